"""The first page of the site: what README.md begins with, the modules of groups.dox, and the pages as docs/README.md lists
them."""

import os
import re

GROUP = re.compile(r"@defgroup (\w+) (.+)\n\s*(.+?) \*/")
SHELL = re.compile(r"(?ms)^(?:<!--[^\n]*-->\n)?```sh$.*?^```\n+")


def uncapital(line):
    """A sentence after a colon; CUDA stays."""
    return line[0].lower() + line[1:] if line[1].islower() else line


def groups_of(docs):
    """Name, title and line of each module."""
    return GROUP.findall((docs / "reference" / "groups.dox").read_text())


def start_page(docs, pages):
    """What docs/README.md is to be: DOCS is its folder, PAGES its text."""
    tree = docs.parent
    pitch = (tree / "README.md").read_text().split("\n## ")[0]
    pitch = re.sub(r"\]\(([\w./-]+\.md)", lambda found: "](" + os.path.relpath(tree / found[1], docs), SHELL.sub("", pitch))
    modules = "\n".join(f"- @ref {name} \"{title}\": {uncapital(line)}" for name, title, line in groups_of(docs))
    return f"{pitch.rstrip()}\n\n## Modules\n\n{modules}\n\n" + re.sub(r"^# .*", "## Pages", pages)
