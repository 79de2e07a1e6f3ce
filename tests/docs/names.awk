# SPDX-License-Identifier: Apache-2.0
# Reads a list of files and folders of the tree on standard input, then pages, then code; says which names in backquotes there
# are no more. Pages for users name what stands in include/; pages about the house may name anything in the code. What blocks of
# a page's own call something is known on that page.

BEGIN {
  # What other libraries have, what a page shows as a mistake, and what the style is told with.
  split("main rand sed YourSource PascalCase snake_case timeout_ms", known)
  for (i in known) others[known[i]] = 1
}

function about_house(page) { return page ~ /^(ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/design\// }
function want(kind, name) { wants++; kinds[wants] = kind; names[wants] = name; page_of[wants] = FILENAME; from[wants] = FILENAME ":" FNR }

# Adds what PATTERN finds in TEXT, without LEAD and TAIL characters at its ends. A character before it that is one of NOT_AFTER
# makes it a part of something else.
function find(kind, text, pattern, lead, tail, not_after,    at, last, name) {
  while (match(text, pattern)) {
    name = substr(text, RSTART + lead, RLENGTH - lead - tail)
    if (RSTART > 1) at = substr(text, RSTART - 1, 1); else at = last
    if (at == "" || index(not_after, at) == 0 && at !~ /[A-Za-z0-9_]/) want(kind, name)
    last = substr(text, RSTART + RLENGTH - 1, 1)
    text = substr(text, RSTART + RLENGTH)
  }
}

function words_of(name,    n, parts, i) {
  n = split(name, parts, /[^A-Za-z0-9_]+/)
  for (i = 1; i <= n; i++) wanted[parts[i]] = 1
}

function span(text,    first, i) {
  if (text ~ /^<!--/) return
  first = wants + 1
  find("path", text, "(src|tests|sources|transforms|include|bench|examples|docs)/[A-Za-z0-9_./*-]+", 0, 0, "/.-<")
  if (about_house(FILENAME)) find("file", text, "[A-Za-z0-9_/]+\\.(hpp|cpp|cu|cmake|awk)", 0, 0, "./<*-")
  find("setting", text, "PENSTOCK_[A-Z0-9_]+", 0, 0, "")
  find("function", text, "[A-Za-z_][A-Za-z0-9_]*\\(", 0, 1, "")
  find("option", text, "\\.[a-z][A-Za-z0-9_]* =", 1, 2, ")]*./")
  find("option", text, "\\.[a-z][a-z0-9]*_[a-z0-9_]+", 1, 0, ")]*./")
  find("qualified", text, "[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)+", 0, 0, ":")
  if (text ~ /^([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[a-z][a-z0-9]*_[a-z0-9_]+)(\{.*)?$/) find("name", text, "^[A-Za-z0-9_]+", 0, 0, "")
  if (text ~ /^penstock [a-z]/) find("--", text, "--[a-z][a-z-]*", 0, 0, "-")
  for (i = first; i <= wants; i++) words_of(names[i])
}

FILENAME == "-" || FILENAME == "" {
  exists[$0] = 1
  file = $0
  sub(/.*\//, "", file)
  sub(/\..*/, "", file)
  in_code[file] = 1
  next
}

# Pages
FNR == 1 { fenced = 0; held = ""; if (FILENAME ~ /\.md$/) pages++ }
FILENAME ~ /\.md$/ {
  find("header", $0, "penstock/[A-Za-z0-9_/]+\\.hpp", 0, 0, "/.-")
  if (/^```/) { fenced = !fenced; held = ""; next }
  if (fenced) {
    n = split($0, parts, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++) on_page[FILENAME, parts[i]] = 1
    next
  }
  if ($0 == "") held = ""
  text = held $0
  n = split(text, parts, "`")
  held = n % 2 ? "" : text " "
  if (held == "") for (i = 2; i < n; i += 2) span(parts[i])
  next
}

# Code
{
  public = FILENAME ~ /^include\//
  n = split($0, parts, /[^A-Za-z0-9_]+/)
  kind = ""
  for (i = 1; i <= n; i++) {
    word = parts[i]
    if (word ~ /^(struct|class|enum|union|namespace|using)$/) { kind = word; continue }
    if (word == "PENSTOCK_API") continue
    if (word in wanted) {
      in_code[word] = 1
      if (public) in_include[word] = 1
      in_file[FILENAME, word] = 1
      if (kind != "" && !((word, FILENAME) in declares)) { declares[word, FILENAME] = 1; places[word] = places[word] " " FILENAME }
    }
    if (kind != "namespace") kind = ""
  }
  if (FILENAME ~ /^src\/cli\//) {
    text = $0
    while (match(text, /--[a-z][a-z-]*/)) { cli[substr(text, RSTART, RLENGTH)] = 1; text = substr(text, RSTART + RLENGTH) }
    if (FNR == 1) cli_files++
  }
}

# A path, or one with stands-in: *, or a folder of one capital letter. Parts of a header and its source are named without an end.
function is_path(path, not_whole,    pattern, file) {
  sub(/[.\/-]+$/, "", path)
  if (path in exists || (path ".hpp") in exists || (path ".cpp") in exists) return 1
  # A program is named as it lies in the build folder.
  if (path ~ /^(bench|examples)\/[a-z_]+$/) {
    pattern = path
    sub(/\/.*/, "", path); sub(/.*\//, "", pattern)
    pattern = "^" path "/.*/" pattern "\\.cpp$"
  } else {
    pattern = path
    gsub(/\./, "\\.", pattern)
    gsub(/\*/, "[^/]*", pattern)
    pattern = "/" pattern "/"
    while (match(pattern, /\/[A-Z]\//)) pattern = substr(pattern, 1, RSTART) "[^/]*" substr(pattern, RSTART + RLENGTH - 1)
    if (!not_whole && pattern == "/" path "/") return 0
    pattern = (not_whole ? "(^|/)" : "^") substr(pattern, 2, length(pattern) - 2) "$"
  }
  for (file in exists) if (file ~ pattern) return 1
  return 0
}

function is_word(word, page) {
  return word in others || (page, word) in on_page || (about_house(page) ? word in in_code : word in in_include)
}

# Of Type::member some file that declares Type has the member.
function is_qualified(name, page,    n, parts, i, k, files, count, found) {
  n = split(name, parts, "::")
  if (parts[1] == "std") return 1
  for (i = 1; i < n; i++) {
    if (parts[i] == "ps" || parts[i] == "penstock") { if (!is_word(parts[i + 1], page)) return 0; continue }
    if ((page, parts[i]) in on_page && (page, parts[i + 1]) in on_page) continue
    count = split(places[parts[i]], files, " ")
    found = 0
    for (k = 1; k <= count; k++)
      if ((files[k], parts[i + 1]) in in_file && (about_house(page) || files[k] ~ /^include\//)) found = 1
    if (!found) return 0
  }
  return 1
}

END {
  for (i = 1; i <= wants; i++) {
    name = names[i]; kind = kinds[i]; page = page_of[i]
    if (kind == "header") { ok = ("include/" name) in exists; said = "there is no header " name }
    else if (kind == "path") { ok = is_path(name, 0); said = "there is no " name }
    else if (kind == "file") { ok = is_path(name, 1); said = "there is no file " name }
    else if (kind == "setting") { ok = name ~ /_$/ || name in in_code; said = "nothing knows " name }
    else if (kind == "function") { ok = is_word(name, page); said = "there is no function " name "()" }
    else if (kind == "option") { ok = is_word(name, page); said = "there is no option ." name }
    else if (kind == "name") { ok = name in in_code || name in others || (page, name) in on_page; said = "there is no " name }
    else if (kind == "qualified") { ok = is_qualified(name, page); said = "there is no " name }
    else { ok = !cli_files || name in cli; said = "the tool has no option " name }
    if (!ok) { print from[i] ": " said; bad = 1 }
  }
  printf "%d names\n", wants
  if (pages > 3 && !wants) { print "no name was seen, so none was checked"; bad = 1 }
  exit bad
}
