# SPDX-License-Identifier: Apache-2.0
# Takes the code out of a page: awk -v page=docs/tool.md -v work=FOLDER -f extract.awk docs/tool.md
# README.md beside this file says what the marks mean. Works in any awk. Writes to FOLDER, which is there already:
#   fragments.cpp       the C++ blocks without a main(), in one translation unit
#   program_LINE.cpp    a block with a main(), as it is
#   commands.sh         the shell blocks in their order, with the files and outputs that the marks name
#   output_LINE.txt     what a command of the page is said to print
#   files               "FOLDER PATH" of each file that a block is
#   counts              "fragments N", "programs N", "commands N", "not compiled WHERE: why", "not run WHERE: why"
# Prints what it does not understand and exits 1.

function wrong(at, text) { printf "%s:%d: %s\n", page, at, text; bad = 1 }
function trimmed(text) { sub(/^[ \t]+/, "", text); sub(/[ \t]+$/, "", text); return text }
function quoted(text) { gsub(/'/, "'\\''", text); return "'" text "'" }
function count(line) { print line > (work "/counts") }

# A comment that is alone on its line says how the next block is treated.
function mark(text,    word) {
  text = trimmed(substr(text, 5, length(text) - 7))
  word = text
  sub(/:.*/, "", word)
  text = (index(text, ":") ? trimmed(substr(text, index(text, ":") + 1)) : "")
  if (word == "run") { command(FNR, text "\n"); return }
  if (word == "given") { given = text; return }
  if (word == "include") { include_words(text); return }
  if (word == "not compiled" || word == "not run" || word == "file" || word == "continues" || word == "prints" || word == "prints exactly") {
    if ((word ~ /^not/ || word == "file") && text == "") wrong(FNR, "\"" word ":\" wants " (word == "file" ? "a name" : "a reason"))
    marks[word] = text; marked = FNR; return
  }
  wrong(FNR, "\"" word "\" is no mark")
}
function include_words(text,    n, i, names) {
  n = split(text, names, " ")
  for (i = 1; i <= n; i++) include("#include " names[i], FNR)
}
function includes_of_program(    n, i, lines) {
  n = split(block, lines, "\n")
  for (i = 1; i <= n; i++) if (lines[i] ~ /^#include </) include(lines[i], block_line + i)
}
function include(line, at) {
  if (line in included) return
  included[line] = 1
  line = "#line " at " \"" page "\"\n" line "\n"
  # A file of the page's own may use `ps`.
  if (line ~ /#include "/) own_includes = own_includes line
  else includes = includes line
}

function command(at, text) {
  commands++
  script = script "begin " at "\n{\n" text "} >\"$output\" 2>&1 </dev/null\n"
}

function end_block(    body) {
  if ("file" in marks) {
    print marks["file"] " " work "/file_" block_line > (work "/files")
    printf "%s", block > (work "/file_" block_line)
    script = script "copy " quoted(work "/file_" block_line) " " quoted(marks["file"]) "\n"
  }
  if (language == "cpp") {
    if ("not compiled" in marks) count("not compiled " page ":" block_line ": " marks["not compiled"])
    else if (block ~ /(^|\n)int main\(/) {
      programs++
      includes_of_program()
      printf "#line %d \"%s\"\n%s", block_line + 1, page, block > (work "/program_" block_line ".cpp")
    } else fragment()
  } else if (language == "sh") {
    if ("not run" in marks) count("not run " page ":" block_line ": " marks["not run"])
    else command(block_line, block)
  } else if (language == "cmake") {
    if (!("file" in marks)) {
      if ("not run" in marks) count("not run " page ":" block_line ": " marks["not run"])
      else wrong(block_line, "a cmake block is a file that a command uses (\"file: CMakeLists.txt\"), or \"not run: why\"")
    }
  } else if (("prints" in marks) || ("prints exactly" in marks)) {
    if (!commands) wrong(block_line, "no command before this output")
    printf "%s", block > (work "/output_" block_line ".txt")
    script = script "compare " block_line " " quoted(work "/output_" block_line ".txt") ("prints exactly" in marks ? " exactly" : "") "\n"
    outputs++
  }
  if (language != "cpp" && (("not compiled" in marks) || ("continues" in marks))) wrong(block_line, "this mark is for cpp blocks")
  if (language != "sh" && language != "cmake" && ("not run" in marks)) wrong(block_line, "\"not run\" is for sh and cmake blocks")
  if (language != "text" && language != "json" && (("prints" in marks) || ("prints exactly" in marks))) wrong(block_line, "\"prints\" is for text and json blocks")
  split("", marks)
}

# Types and functions go into a namespace of the block's own, statements into a function there, so that blocks may use the same
# names. A block that continues the one before it goes into the same function.
function fragment(    n, lines, i, line, depth, hoisted, at) {
  if ("continues" in marks) {
    if (!fragments) { wrong(block_line, "there is no block to continue"); return }
  } else {
    fragments++
    parameters[fragments] = given
    first_line[fragments] = block_line
  }
  n = split(block, lines, "\n")
  depth = 0; hoisted = 0
  types[fragments] = types[fragments] "#line " (block_line + 1) " \"" page "\"\n"
  body[fragments] = body[fragments] "#line " (block_line + 1) " \"" page "\"\n"
  for (i = 1; i < n; i++) {
    line = lines[i]; at = block_line + i
    if (line ~ /^#include/) {
      include(line, at)
      types[fragments] = types[fragments] "\n"; body[fragments] = body[fragments] "\n"
      continue
    }
    if (depth == 0 && !hoisted) hoisted = is_definition(line)
    if (hoisted) { types[fragments] = types[fragments] line "\n"; body[fragments] = body[fragments] "\n" }
    else { body[fragments] = body[fragments] line "\n"; types[fragments] = types[fragments] "\n" }
    depth += braces(line)
    if (depth == 0 && hoisted && line ~ /[;}][ \t]*(\/\/.*)?$/) hoisted = 0
  }
}
function is_definition(line) {
  if (line ~ /^(struct|class|enum|union|template|namespace|static|inline|constexpr)[^A-Za-z0-9_]/) return 1
  if (line ~ /^(for|if|while|switch|else|return|do|try|using|auto) ?/ && line !~ /^(auto|double) [a-z_]+\(/) return 0
  return line ~ /^[A-Za-z_][A-Za-z0-9_:<>, &*]* [A-Za-z_]+\([^[]*\) (const )?\{/
}
function braces(line,    n) {
  sub(/\/\/.*/, "", line)
  gsub(/"([^"\\]|\\.)*"/, "", line)
  gsub(/'[{}]'/, "", line)
  n = gsub(/\{/, "{", line)
  return n - gsub(/\}/, "}", line)
}

/^```/ {
  if (inside) {
    if ($0 != "```") wrong(FNR, "a block ends with three backticks alone")
    inside = 0
    end_block()
    next
  }
  language = substr($0, 4)
  block = ""; block_line = FNR; inside = 1
  if (language !~ /^(cpp|sh|cmake|text|json)$/) wrong(FNR, "\"```" language "\": a block is of cpp, sh, cmake, text or json")
  next
}
inside { block = block $0 "\n"; next }
/^[ \t]+```/ { wrong(FNR, "a block begins at the line's first column") }
/^<!--.*-->[ \t]*$/ { mark(trimmed($0)); next }
{ for (name in marks) { wrong(marked, "a mark stands on the line before its block"); split("", marks); break } }

END {
  if (inside) wrong(block_line, "this block has no end")
  for (name in marks) { wrong(marked, "a mark stands on the line before its block"); break }
  count("fragments " fragments + 0)
  count("programs " programs + 0)
  count("commands " commands + 0)
  count("outputs " outputs + 0)
  if (fragments) {
    printf "%s#line 1 \"%s\"\nnamespace ps = penstock;\n%s", includes, page, own_includes > (work "/fragments.cpp")
    for (i = 1; i <= fragments; i++)
      printf "namespace block_%d {\n%svoid fragment(%s) {\n%s}\n}  // namespace\n", first_line[i], types[i], parameters[i], body[i] > (work "/fragments.cpp")
  }
  printf "%s", script > (work "/commands.sh")
  exit bad
}
