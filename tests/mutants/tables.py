"""The tables of mutants: NAME.toml for what stands in one folder of the engine, or in one store.

An entry says in `why` what is wrong, and in `tests` which tests ("PROGRAM FILTER", as Catch2 takes it) must find out.
`file`, `find` and `replace` say what is changed: `find` is text that stands exactly once in the file. An entry that
changes several places has them in `edits`.
"""

import pathlib
import sys

try:
    import tomllib
except ModuleNotFoundError:
    print(f"{sys.executable} is older than 3.11 and has no tomllib: the mutants were not read")
    sys.exit(4)

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent


class Mutant:
    def __init__(self, table, name, entry):
        self.table, self.name = table, name
        self.why = entry.get("why", "")
        self.tests = entry.get("tests", [])
        places = entry["edits"] if "edits" in entry else [entry]
        self.edits = [(p.get("file", ""), p.get("find", ""), p.get("replace")) for p in places]
        self.unknown = set(entry) - {"why", "tests", "edits", "file", "find", "replace"}
        for place in places:
            self.unknown |= set(place) - {"why", "tests", "file", "find", "replace"}

    def plant(self, tree):
        """Changes the files below `tree`; returns what they held before, by path. Nothing is changed where it can't be."""
        before, after = {}, {}
        for file, find, replace in self.edits:
            path = pathlib.Path(tree) / file
            text = after.get(path)
            if text is None:
                before[path] = text = path.read_text()
            if text.count(find) != 1:
                raise ValueError(f"{file} has its text {text.count(find)} times")
            after[path] = text.replace(find, replace)
        for path, text in after.items():
            path.write_text(text)
        return before


def read(folder=HERE):
    """All mutants below `folder`, in the order of tables and entries."""
    mutants = []
    for path in sorted(pathlib.Path(folder).glob("*.toml")):
        with open(path, "rb") as file:
            for name, entry in tomllib.load(file).items():
                mutants.append(Mutant(path.stem, name, entry))
    return mutants
