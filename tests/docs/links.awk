# SPDX-License-Identifier: Apache-2.0
# Reads a list of files and folders of the tree on standard input, then pages; says which links of the pages are dead.

function wrong(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }

# a/b/../c -> a/c
function normal(path,    n, parts, i, depth, out) {
  n = split(path, parts, "/"); depth = 0
  for (i = 1; i <= n; i++) {
    if (parts[i] == "" || parts[i] == ".") continue
    if (parts[i] == ".." && depth > 0 && out[depth] != "..") { depth--; continue }
    out[++depth] = parts[i]
  }
  path = ""
  for (i = 1; i <= depth; i++) path = path (i > 1 ? "/" : "") out[i]
  return path
}

# What a heading is called in a link: small letters, no punctuation, dashes for blanks; -1, -2 where it is said again.
function anchor_of(heading,    text) {
  text = tolower(heading)
  gsub(/\]\([^)]*\)/, "", text)
  gsub(/[^a-z0-9_ \-]/, "", text)
  gsub(/ /, "-", text)
  return text
}

function link(target,    folder, path, anchor) {
  if (target ~ /^[a-z]+:/) return
  links++
  anchor = ""
  if (index(target, "#")) { anchor = substr(target, index(target, "#") + 1); target = substr(target, 1, index(target, "#") - 1) }
  if (target == "") path = FILENAME
  else {
    folder = FILENAME
    if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
    path = normal(folder "/" target)
  }
  if (!(path in exists)) { wrong("the link to " target " leads to no file that is installed with the pages"); return }
  if (path !~ /^[^\/]*\.md$|^LICENSE$|^(docs|examples)(\/|$)/) {
    wrong("the link to " target " is dead where the pages are installed: name the file as `" path "`"); return
  }
  if (anchor != "") { wanted[++wants] = path "#" anchor; from[wants] = FILENAME ":" FNR }
}

FILENAME == "-" || FILENAME == "" { exists[$0] = 1; next }
FNR == 1 { fenced = 0; pages++ }
/^```/ { fenced = !fenced; next }
fenced { next }
/^#+ / {
  heading = $0
  sub(/^#+ +/, "", heading)
  anchor = anchor_of(heading)
  name = FILENAME "#" anchor
  if (name in headings) name = name "-" ++again[name]
  headings[name] = 1
}
{
  text = $0
  gsub(/`[^`]*`/, "``", text)
  while (match(text, /\]\([^)]*\)/)) {
    target = substr(text, RSTART + 2, RLENGTH - 3)
    sub(/ ".*"$/, "", target)
    link(target)
    text = substr(text, RSTART + RLENGTH)
  }
  if (match(text, /^\[[^]]*\]: +/)) link(substr(text, RSTART + RLENGTH))
}

END {
  for (i = 1; i <= wants; i++)
    if (!(wanted[i] in headings)) { print from[i] ": there is no heading for the link to " wanted[i]; bad = 1 }
  printf "%d pages, %d links\n", pages, links
  if (pages && !links) { print "no link was seen, so none was checked"; bad = 1 }
  exit bad
}
