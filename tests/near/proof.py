"""Whether what is chosen for a planted mistake holds the tests that find it."""

import cases
import near


def missing(chooser, mutant):
    """Of a mutant's tests ("PROGRAM FILTER") those that its files don't reach, and those of programs that aren't built."""
    choice = chooser.choose(sorted({file for file, _, _ in mutant.edits}))
    missed, not_built = [], []
    for test in mutant.tests:
        program, _, filters = test.partition(" ")
        if program not in chooser.facts.programs:
            not_built.append(test)
        elif not choice.everything and not is_run(chooser, choice, program, filters):
            missed.append(test)
    return missed, not_built


def is_run(chooser, choice, program, filters):
    """Whether all cases of the filter are run."""
    if program not in choice.programs:
        return False
    sources = [chooser.tree / source for source in chooser.facts.sources[program] if source.endswith(".cpp")]
    wanted = cases.chosen_by(filters, [case for source in sources for case in cases.cases_in(source)])
    return bool(wanted) and not choice.left_cases.get(program, set()).intersection(wanted)


def check(chooser, mutants):
    """Prints each mutant that isn't reached; the last line counts them. Returns whether all are."""
    failed, skipped = 0, 0
    for mutant in mutants:
        missed, not_built = missing(chooser, mutant)
        skipped += len(not_built)
        failed += bool(missed)
        for test in missed:
            print(f"{mutant.table}.toml: {mutant.name}: ./test near does not run: {test}")
    if skipped:
        print(f"{skipped} tests of programs that this build lacks were not looked at")
    print(f"{len(mutants)} mutants, {failed} not reached")
    return bool(mutants) and not failed
