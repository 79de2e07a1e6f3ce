"""Whether what is chosen for a planted mistake holds the tests that find it."""

import near
import cases


def cases_of(chooser, test):
    """The cases of this build that "PROGRAM FILTER" chooses: none where the build lacks them."""
    program, _, filters = test.partition(" ")
    if program not in chooser.facts.programs:
        return []
    sources = [chooser.tree / source for source in chooser.facts.sources.get(program, ()) if source.endswith(".cpp")]
    return cases.chosen_by(filters, [case for source in sources for case in cases.cases_in(source)])


def is_run(choice, program, wanted):
    """Whether all these cases are run."""
    if choice.everything:
        return True
    return program in choice.programs and not choice.left_cases.get(program, set()).intersection(wanted)


def missing(chooser, mutant):
    """Of a mutant's tests those that its files don't reach, and those that this build lacks."""
    choice = chooser.choose(sorted({file for file, _, _ in mutant.edits}))
    missed, lacking = [], []
    for test in mutant.tests:
        wanted = cases_of(chooser, test)
        if not wanted:
            lacking.append(test)
        elif not is_run(choice, test.partition(" ")[0], wanted):
            missed.append(test)
    return missed, lacking


def check(chooser, mutants):
    """Prints each mutant that isn't reached; the last line counts them. Returns whether all are."""
    failed, tests, lacking = 0, 0, 0
    for mutant in mutants:
        missed, not_here = missing(chooser, mutant)
        tests += len(mutant.tests)
        lacking += len(not_here)
        failed += bool(missed)
        for test in missed:
            print(f"{mutant.table}.toml: {mutant.name}: ./test near does not run: {test}")
    if lacking:
        print(f"{lacking} of {tests} tests were not looked at: this build lacks them")
    print(f"{len(mutants)} mutants, {failed} not reached")
    return lacking < tests and not failed
