"""What a witness says is put into its program so that another verifier can judge it, and CBMC's answer is read as it is meant. No
test needs CBMC: `gcc` compiles what is put in, with functions of our own in the place of CBMC's."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cbmc import Answer, Said
from benchmarks.witness_programs import INVARIANT, TARGET, UntranslatedError, invariant, violating
from benchmarks.witnesses import Said as Judged
from benchmarks.witnesses import Validated, table, validated

PROGRAM = """\
extern int input(void);
extern void reach_error(void);
int main(void)
{
    int x, i;
    for (i = 0; i < 2; i++) {
        x = input(); /* ) */
        if (x == 7 + i && i == 1)
            reach_error();
    }
    return 0;
}
"""
LOOPS = """\
int main(void)
{
    int i = 0; /* while (1) */
    while (i < 3)
        i++;
    for (; i < 5 && "for (;;)"[0] != ')'; i++) {
    }
    do {
        i++;
    } while (i < 9);
    return i != 9;
}
"""
STANDING_IN = """\
int printf(const char *, ...);
void exit(int);
static void check(int holds, const char *what) { if (!holds) { printf("%s\\n", what); exit(9); } }
#define __CPROVER_assert(holds, what) check(holds, what)
#define __CPROVER_assume(holds) do { if (!(holds)) exit(0); } while (0)
#define __CPROVER_loop_invariant(holds)
"""
RESULTS = 'static int given; int input(void) { return RESULTS[given++]; }\nvoid reach_error(void) { printf("reached\\n"); }\n'


def waypoint(kind: str, line: int, column: int, value: str = "") -> dict[str, Any]:
    location = {"file_name": "a.c", "line": line, "column": column}
    constraint = {"constraint": {"value": value}} if value else {}
    return {"segment": [{"waypoint": {"type": kind, "action": "follow", "location": location, **constraint}}]}


def violation(*values: str) -> dict[str, Any]:
    results = [waypoint("function_return", 7, 19, value) for value in values]
    return {"entry_type": "violation_sequence", "content": [*results, waypoint("target", 9, 13)]}


def correctness(*said: tuple[int, int, str]) -> dict[str, Any]:
    stated = [
        {"type": "loop_invariant", "location": {"file_name": "a.c", "line": line, "column": column}, "value": value}
        for line, column, value in said
    ]
    return {"entry_type": "invariant_set", "content": [{"invariant": one} for one in stated]}


def run(tmp_path: Path, text: str, results: str = "0") -> tuple[int, str]:
    """The exit status of the program, and what it prints."""
    (tmp_path / "a.c").write_text(STANDING_IN + RESULTS.replace("RESULTS", f"((int[]) {{{results}}})") + text)
    subprocess.run(["gcc", "-w", "-o", "a.out", "a.c"], cwd=tmp_path, check=True)
    done = subprocess.run(["./a.out"], cwd=tmp_path, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


@pytest.mark.parametrize(
    ("values", "results", "ends"),
    [
        (("\\result == 3", "\\result == 8"), "3, 8", (9, TARGET)),  # as the witness says
        (("\\result != 0", "\\result == 8"), "4, 8", (9, TARGET)),
        (("\\result != 0", "\\result == 8"), "0, 8", (0, "")),
        (("\\result == 3", "\\result == 8"), "4, 8", (0, "")),  # another run, which it does not speak of
        (("\\result == -1", "\\result == 9"), "-1, 9", (0, "")),  # a run that does not get to the target
        ((), "4, 8", (9, TARGET)),  # it says nothing of results
        (("\\result == 3", "\\result == 8", "\\result == 1"), "3, 8", (0, "reached")),  # the target before the last result
    ],
)
def test_a_violation_witness_leaves_its_runs_only(
    tmp_path: Path, values: tuple[str, ...], results: str, ends: tuple[int, str]
) -> None:
    assert run(tmp_path, violating(PROGRAM, violation(*values)), results) == ends


def test_of_a_check_what_it_checks_is_checked(tmp_path: Path) -> None:
    text = "void assert(int);\nvoid assert(int c) {}\nint main(void)\n{\n    int i = 1;\n    assert((i, 0));\n    return 0;\n}\n"
    entry = {"entry_type": "violation_sequence", "content": [waypoint("target", 6, 5)]}
    assert run(tmp_path, violating(text, entry)) == (9, TARGET)
    assert run(tmp_path, violating(text.replace("(i, 0)", "i"), entry)) == (0, "")


def test_calls_within_calls(tmp_path: Path) -> None:
    text = "int input(void), assert(int);\nint assert(int c) {}\nint main(void)\n{\n\n    assert(abs(input()));\n}\n"
    places: list[tuple[str, int, int] | tuple[str, int, int, str]] = [
        ("function_return", 6, 22, "\\result == 4"),
        ("function_return", 6, 23, "\\result == 4"),
        ("target", 6, 5),
    ]
    entry = {"entry_type": "violation_sequence", "content": [waypoint(*one) for one in places]}
    assert run(tmp_path, violating(text, entry), "-4") == (0, "")
    assert run(tmp_path, violating(text.replace("abs(input())", "abs(input())-4"), entry), "4") == (9, TARGET)


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        (((4, 5, "i <= 3"), (6, 5, "i <= 5"), (8, 5, "i <= 8")), (0, "")),
        (((4, 5, "i <= 2"),), (9, INVARIANT)),  # not when the loop ends
        (((6, 5, "i < 5"),), (9, INVARIANT)),
        (((8, 5, "i > 5"),), (9, INVARIANT)),  # not before the first round
        (((4, 5, "i <= 3"), (4, 5, "i < 3")), (9, INVARIANT)),  # the second of one loop
    ],
)
def test_an_invariant_is_checked_whenever_a_run_gets_there(
    tmp_path: Path, said: tuple[tuple[int, int, str], ...], ends: tuple[int, str]
) -> None:
    assert run(tmp_path, invariant(LOOPS, correctness(*said), "check")) == ends


def test_contracts_stand_behind_the_heads_of_loops(tmp_path: Path) -> None:
    text = invariant(LOOPS, correctness((8, 5, "i < 9")), "contract", everywhere=True)
    assert [line.strip() for line in text.splitlines() if "__CPROVER" in line] == [
        "while (i < 3) __CPROVER_loop_invariant(1)",
        "for (; i < 5 && \"for (;;)\"[0] != ')'; i++) __CPROVER_loop_invariant(1) {",
        "} while (i < 9) __CPROVER_loop_invariant((i < 9));",
    ]
    assert run(tmp_path, text) == (0, "")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (violation("\\result >= 3"), "constraint"),
        ({"content": [waypoint("branching", 8, 9, "true"), waypoint("target", 9, 13)]}, "neither results nor the target"),
        ({"content": [waypoint("target", 8, 9)]}, "its target is no call"),
        ({"content": [waypoint("function_return", 7, 14, "\\result == 1"), waypoint("target", 9, 13)]}, "closing parenthesis"),
        ({"content": [waypoint("target", 90, 1)]}, "no place 90:1"),
    ],
)
def test_what_is_not_put_into_a_program_is_said(entry: dict[str, Any], why: str) -> None:
    with pytest.raises(UntranslatedError, match=why):
        violating(PROGRAM, entry)


def test_an_invariant_of_no_loop_is_said() -> None:
    with pytest.raises(UntranslatedError, match="at line 3 no loop begins"):
        invariant(LOOPS, correctness((3, 5, "1")), "check")


@pytest.mark.parametrize(
    ("answers", "said", "how"),
    [
        (["holds", "violated"], "accepted", "a run gets to the target"),
        (["complete"], "refuted", "no run gets to the target"),
        (["holds", "holds", "holds", "holds"], "not decided", "not reached within the bounds"),
        (["holds", "unknown"], "not decided", "why"),
    ],
)
def test_a_violation_witness_is_judged(answers: list[Answer], said: Judged, how: str) -> None:
    left = iter(answers)
    found = validated(PROGRAM, violation(), lambda *_: Said(next(left), "why", 0.0))
    assert found == Validated("violation", 0, said, how)
    assert list(left) == []


def test_calls_within_macros_and_in_other_files_are_not_put_into_the_program() -> None:
    entry = violation("\\result == 3")
    assert validated(PROGRAM, entry, lambda *_: Said("complete", "", 0.0), frozenset({"input"}))[2] == "not translated"
    entry["content"][0]["segment"][0]["waypoint"]["location"]["file_name"] = "b.c"
    assert validated(PROGRAM, entry, lambda *_: Said("complete", "", 0.0))[2:] == (
        "not translated",
        "it has places in several files",
    )


def test_what_the_compiler_defines_may_return_something_else() -> None:
    """`__builtin_ctz(0)` is undefined: CBMC has a value for it, and Everproof lets it be any."""
    text = PROGRAM.replace(" input();", " __builtin_ctz(i);")
    place = text.split("\n")[6].index(");") + 1
    content = [waypoint("function_return", 7, place, "\\result == 7"), waypoint("target", 9, 13)]
    found = validated(text, {"entry_type": "violation_sequence", "content": content}, lambda *_: Said("complete", "", 0.0))
    assert found[2:] == ("not decided", "CBMC computes `__builtin_ctz`")


@pytest.mark.parametrize(
    ("answers", "said", "how"),
    [
        ([Said("complete", "", 0.0)], "accepted", "by induction"),
        ([Said("holds", "", 0.0), Said("holds", "", 0.0), Said("complete", "", 0.0)], "accepted", "by unwinding"),
        ([Said("violated", INVARIANT, 0.0), Said("violated", INVARIANT, 0.0)], "refuted", "an invariant"),
        ([Said("unknown", "", 0.0), Said("violated", "reached", 0.0)], "refuted", "the property"),
        ([Said("holds", "", 0.0), Said("violated", "", 0.0, frozenset({"ffs"}))], "not decided", "CBMC does not know `ffs`"),
        ([Said("holds", "", 0.0), Said("violated", "", 0.0, frozenset({"input", "out"}))], "refuted", "the property"),
        (
            [Said("holds", "", 0.0), Said("violated", "", 0.0, frozenset({"block"}))],
            "not decided",
            "to CBMC, `block` may return a pointer to any block",
        ),
        ([*[Said("unknown", "why", 0.0)] * 3], "not decided", "why"),
    ],
)
def test_a_correctness_witness_is_judged(answers: list[Said], said: Judged, how: str) -> None:
    """What violates a contract alone refutes nothing: the contracts of other loops may say too little."""
    left = iter(answers)
    found = validated("int *block(void), out(void);\n" + LOOPS, correctness((5, 5, "i <= 3")), lambda *_: next(left))
    assert found == Validated("correctness, with invariants", 1, said, how)
    assert list(left) == []


def test_the_table_counts_each_kind() -> None:
    found = [
        Validated("violation", 0, "accepted", "a run gets to the target"),
        Validated("violation", 0, "not decided", "ended from outside"),
        Validated("correctness, with invariants", 2, "accepted", "by induction"),
    ]
    lines = list(table(found))
    assert "| violation | 2 | 1 | 0 | 1 | 0 | 0 |" in lines
    assert "| correctness, with invariants | 1 | 1 | 0 | 0 | 0 | 2 |" in lines
    assert "| accepted | by induction | 1 |" in lines
