"""Which targets and tests a change of files can reach.

CMake's facts (CMakeLists.txt says what they are) tell of targets, the files' own #include lines of headers, and reach.toml
of tests that are no programs of test cases, and of what is left out.
"""

import dataclasses
import fnmatch
import pathlib
import re
import sys

try:
    import tomllib
except ModuleNotFoundError:
    print(f"{sys.executable} is older than 3.11 and has no tomllib: the table was not read")
    sys.exit(4)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "mutants"))
from cases import cases_in

CODE = (".hpp", ".h", ".cpp", ".cc", ".inl", ".ipp", ".cu", ".cuh")
FOLDERS = ("include", "src", "sources", "transforms", "tests", "examples", "bench")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*([<"])([^>"\n]+)', re.MULTILINE)


def fits(path, patterns):
    """Whether one of the patterns is the path's; * stands for anything, a / at the end for all below a folder."""
    return any(fnmatch.fnmatchcase(path, p + "*" if p.endswith("/") else p) for p in patterns)


def below(path, folder):
    return path.startswith(folder.rstrip("/") + "/")


def normal(path):
    """a/b/../c -> a/c"""
    parts = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def folder_of(path):
    return path.rpartition("/")[0]


class Includes:
    """Which file of the tree includes which."""

    def __init__(self, tree):
        self.tree = pathlib.Path(tree)
        self.files = {path.relative_to(self.tree).as_posix() for folder in FOLDERS
                      for path in (self.tree / folder).rglob("*") if path.suffix in CODE}
        self.pages = {path.relative_to(self.tree).as_posix()
                      for path in [*self.tree.glob("*.md"), *(self.tree / "docs").rglob("*.md")]}
        self.own_folders = {folder_of(path.relative_to(self.tree).as_posix())
                            for folder in ("sources", "transforms", "src/testing")
                            for path in (self.tree / folder).rglob("CMakeLists.txt")
                            if re.search(r"^ *penstock_component\(", path.read_text(), re.MULTILINE)}
        self.by_name = {}
        for path in self.files:
            self.by_name.setdefault(path.rpartition("/")[2], []).append(path)
        self.users = {}
        for path in self.files | self.pages:
            for used in self.direct(path):
                self.users.setdefault(used, set()).add(path)

    def home_of(self, path):
        folder = folder_of(path)
        while folder and folder not in self.own_folders:
            folder = folder_of(folder)
        return folder or path.partition("/")[0]

    def resolve(self, path, name):
        """Where a quoted include leads: as `resolve` in tests/layering/rules.awk. Elsewhere it may be any file of that name."""
        beside = folder_of(path)
        for root in (beside, self.home_of(path), path.partition("/")[0], "src", beside + "/..", ".", "include"):
            found = normal(f"{root}/{name}")
            if found in self.files:
                return {found}
        end = "/" + normal(name).rpartition("../")[2]
        return {other for other in self.by_name.get(name.rpartition("/")[2], []) if ("/" + other).endswith(end)}

    def direct(self, path):
        text = (self.tree / path).read_text(errors="replace")
        if path in self.pages:
            return {"include/" + name for name in re.findall(r"<(penstock/[^>\s]+)>", text)} & self.files
        used = set()
        for kind, name in INCLUDE.findall(text):
            if kind == '"':
                used |= self.resolve(path, name)
            elif name.startswith("penstock/") and "include/" + name in self.files:
                used.add("include/" + name)
        return used

    def seeing(self, path):
        """The file itself and all that include it, through others too."""
        return closure({path}, self.users)


def closure(start, users):
    found, waiting = set(start), list(start)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return found


class Facts:
    """What CMake knows of the targets."""

    def __init__(self, text):
        self.kinds, self.folders, self.tests, self.programs = {}, {}, {}, set()
        self.sources, self.owners, self.users = {}, {}, {}
        for line in text.splitlines():
            kind, *words = line.split(" ")
            if kind == "target":
                self.kinds[words[0]], self.folders[words[0]] = words[1:]
            elif kind in ("source", "header"):
                self.owners.setdefault(words[1], set()).add(words[0])
                if kind == "source":
                    self.sources.setdefault(words[0], set()).add(words[1])
            elif kind == "uses":
                self.users.setdefault(words[1], set()).add(words[0])
            elif kind == "program":
                self.programs.add(words[0])
            elif kind == "test":
                self.tests[" ".join(words[1:])] = words[0]
            else:
                raise ValueError(f"facts: '{line}' means nothing")

    def owning(self, files):
        return set().union(*(self.owners.get(file, set()) for file in files))

    def made_in(self, folder):
        return {target for target, where in self.folders.items() if where == folder}

    def built(self, targets):
        """Those of which something is made: not headers alone."""
        return {target for target in targets if self.kinds.get(target) not in (None, "INTERFACE_LIBRARY")}


@dataclasses.dataclass
class Choice:
    everything: str = ""                                    # why all must be built and run; then the rest is empty
    compiled: set = dataclasses.field(default_factory=set)  # targets that compile something anew
    programs: set = dataclasses.field(default_factory=set)  # programs of test cases
    tests: dict = dataclasses.field(default_factory=dict)   # other tests -> targets that they want; "all": the whole build
    left_cases: dict = dataclasses.field(default_factory=dict)  # program -> names of cases that are left out
    left_out: list = dataclasses.field(default_factory=list)    # (what, why)
    notes: list = dataclasses.field(default_factory=list)       # how each file reaches what

    def targets(self):
        found = self.compiled.union(self.programs, *self.tests.values())
        return {"all"} if self.everything or "all" in found else found


class Chooser:
    def __init__(self, tree, facts, table=None):
        self.tree, self.facts = pathlib.Path(tree), Facts(facts)
        if table is None:
            table = tomllib.loads((HERE / "reach.toml").read_text())
        self.table, self.includes = table, Includes(tree)
        self.rows = table.get("check", []) + table.get("reader", [])
        self.listed = {test for row in self.rows for test in self.tests_of(row)}

    def tests_of(self, row, name=".*"):
        pattern = re.compile(row["tests"].replace("{name}", name))
        return {test for test in self.facts.tests if pattern.fullmatch(test)}

    def choose(self, files):
        choice = Choice()
        for file in files:
            choice.everything = choice.everything or self.add(choice, file)
        if not choice.everything:
            self.leave_out(choice, files)
        return Choice(everything=choice.everything) if choice.everything else choice

    def add(self, choice, file):
        """Adds what a file reaches. Returns why that is everything, or an empty string."""
        if fits(file, self.table["everything"]) and not fits(file, self.table["unread"]):
            return f"{file} says how all is built, chosen or run"
        if file.endswith(CODE) and file not in self.includes.files and not fits(file, self.table["unread"]):
            return f"{file} is gone, and who included it is not known"
        seeing = self.includes.seeing(file)
        compiled = self.facts.owning(seeing)
        if fits(file, self.table["beside"]):
            compiled |= self.facts.owning(other for other in self.includes.files if folder_of(other) == folder_of(file))
        reached = closure(compiled, self.facts.users)
        tests = self.by_rows(self.table.get("check", []), seeing, file, reached) | self.by_folder(file, reached)
        if not reached and not tests and not fits(file, self.table["unread"]):
            return f"no target and no test is known to have {file}"
        tests |= self.by_rows(self.table.get("reader", []), seeing, file, reached)
        choice.compiled |= self.facts.built(compiled)
        choice.programs |= reached & self.facts.programs
        for test, needs in tests.items():
            choice.tests[test] = choice.tests.get(test, set()) | needs
        choice.notes.append(self.note(file, compiled, reached))
        return ""

    def note(self, file, compiled, reached):
        if not reached:
            return f"{file}: only tests that read it"
        programs = f"{len(reached & self.facts.programs)} of {len(self.facts.programs)} programs"
        names = ", ".join(sorted(compiled)) if len(compiled) < 6 else f"{len(compiled)} targets"
        return f"{file}: compiled into {names}; reaches {programs} of test cases"

    def by_rows(self, rows, seeing, file, reached):
        """The tests that rows of the table say, and the targets that they want."""
        tests = {}
        for row in rows:
            found = self.tests_of_each(row, seeing)
            if fits(file, row.get("files", [])) or reached & set(row.get("targets", [])):
                found |= self.tests_of(row)
            for test in found:
                wanted = row.get("needs", []) + [name for name in row.get("targets", []) if name in self.facts.kinds]
                tests[test] = tests.get(test, set()).union(wanted)
        return tests

    def by_folder(self, file, reached):
        """The tests of folders that no row speaks of, and the targets made there. Code is theirs by these targets alone."""
        tests = {}
        for test, folder in self.facts.tests.items():
            made = self.facts.made_in(folder)
            if test not in self.listed and (reached & made or below(file, folder) and not file.endswith(CODE)):
                tests[test] = self.facts.built(made)
        return tests

    def tests_of_each(self, row, files):
        """A row of tests that have one file each, whose name is theirs."""
        found = set()
        for file in files:
            if fits(file, row.get("each", [])):
                name = file.removeprefix(row.get("under", "")).rpartition(".")[0].replace("/", ".")
                found |= self.tests_of(row, re.escape(name))
        return found

    def leave_out(self, choice, files):
        for row in self.table.get("left_out", []):
            if any(fits(file, row["theirs"]) for file in files):
                continue
            left = self.left_tests(choice, row) | self.left_programs(choice, row, files)
            for file in row.get("cases", []):
                left |= self.left_file(choice, file, files, row.get("word"))
            if left:
                choice.left_out.append((row.get("name") or ", ".join(sorted(left)), row["why"]))

    def left_tests(self, choice, row):
        left = {test for test in choice.tests if re.fullmatch(row.get("tests", ""), test)}
        for test in left:
            del choice.tests[test]
        return left

    def left_programs(self, choice, row, files):
        """Programs that a row names, unless the change is one of their own files in tests/."""
        left = {program for program in row.get("programs", [])
                if program in choice.programs and not self.changes_own(self.facts.sources.get(program, set()), files)}
        choice.programs -= left
        return left

    def left_file(self, choice, file, files, word):
        """Cases of a file of a program, unless they are the change's own, or name what they are said to know nothing of."""
        programs = self.facts.owning([file]) & choice.programs
        if not programs or self.changes_own({file}, files):
            return set()
        if word and word in (self.tree / file).read_text().lower():
            return set()
        for program in programs:
            choice.left_cases.setdefault(program, set()).update(cases_in(self.tree / file))
        return {file}

    def changes_own(self, sources, files):
        return any(below(file, "tests") and self.includes.seeing(file) & sources for file in files)


def escaped(text):
    """As a part of ctest's regular expressions."""
    return re.sub(r"([][.*+?^$()|\\])", r"\\\1", text)


def run_pattern(choice):
    """The regular expression of the tests to run. A program that isn't built has a test NAME_NOT_BUILT, which fits none."""
    if choice.everything:
        return "."
    parts = [f"{escaped(program)}\\." for program in sorted(choice.programs)]
    parts += [f"{escaped(test)}$" for test in sorted(choice.tests)]
    return f"^({'|'.join(parts)})" if parts else ""


def leave_pattern(choice):
    """The regular expression of the tests that aren't run all the same, or an empty string."""
    names = [f"{program}.{case}" for program, cases in sorted(choice.left_cases.items()) for case in sorted(cases)]
    return f"^({'|'.join(map(escaped, names))})$" if names else ""
