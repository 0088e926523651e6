"""The environment calls `main` as C11 5.1.2.2.1p2 says. A run in which it does not confirms no violation.

The class: arguments that are null, counts below zero, words that are null or that end where the run needs them to.
Beside them are defects that happen with the arguments that an environment can give.
"""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, decide_program
from analysis.engines.symbolic.task import Decision
from tests.support.runs import program_of

RULES = frozenset({"assertion", "null-dereference", "array-bounds", "division-by-zero"})
DECLARED = "void reach_error(void);\n"


def decided(main: str) -> Decision:
    program = program_of(DECLARED + main)
    return decide_program(ProgramTask(program, RULES, Effort(seconds=8, states=1_000)))


IMPOSSIBLE = {
    "no words": "int main(int argc, char **argv) { if (argc < 3) return 1; return argv[1] == argv[2]; }",
    "a number of words below zero": "int main(int argc, char **argv) { if (argc < 0) reach_error(); return 0; }",
    "no environment": "int main(int argc, char **argv, char **envp) { if (!envp) reach_error(); return 0; }",
    "a word that is null": "int main(int argc, char **argv) { if (argc > 1 && !argv[1]) reach_error(); return 0; }",
    "more words than the run made": "int main(int argc, char **argv) { return argc > 200 ? argv[150] == argv[199] : 0; }",
    "a word with an end that the run made": (
        "int main(int argc, char **argv) { int i = 0; if (argc < 2) return 0; while (argv[1][i]) i++; return i; }"
    ),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_no_environment_does_confirms_nothing(what: str) -> None:
    assert not isinstance(decided(IMPOSSIBLE[what]), Confirmed)


POSSIBLE = {
    "no argument": "int main(int argc, char **argv) { return 10 / (argc - 1); }",
    "many arguments": (
        "int main(int argc, char **argv) { int a[4] = {0}; if (!argv[0]) return 0; return argc > 0 ? a[argc] : 0; }"
    ),
    "arguments that are not read": "int main(int argc, char **argv) { reach_error(); return 0; }",
    "a defect behind words": (
        "int main(int argc, char **argv) { if (argc < 3) return 1; if (argv[1] != argv[2]) reach_error(); return 0; }"
    ),
    "a character of a word": "int main(int argc, char **argv) { return argc > 1 ? 1 / (argv[1][0] - 'x') : 0; }",
}


@pytest.mark.parametrize("what", POSSIBLE)
def test_defects_behind_the_arguments_are_confirmed(what: str) -> None:
    assert isinstance(decided(POSSIBLE[what]), Confirmed)
