"""The test cases of a file, and Catch2's filters of their names."""

import re

TEST_CASE = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def cases_in(path):
    """The names of the test cases of a C++ file."""
    return [re.sub(r"\\(.)", r"\1", "".join(STRING.findall(case)))
            for case in TEST_CASE.findall(path.read_text(errors="replace"))]


def matches(pattern, case):
    """As Catch2 compares them: a star at either end stands for anything, and case does not matter."""
    pattern, case = pattern.strip().strip('"').lower(), case.lower()
    front, back = pattern.startswith("*"), pattern.endswith("*")
    words = pattern.strip("*")
    if front and back:
        return words in case
    if front:
        return case.endswith(words)
    return case.startswith(words) if back else case == words


def chosen_by(filters, cases):
    """The cases that "one*,another" chooses."""
    return [case for case in cases if any(matches(one, case) for one in filters.split(","))]
