"""What a message says of an assertion: its condition, as the program has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cfa.failed_assertions import LONGEST, failed_condition
from analysis.cfa.marks import marked, with_places
from analysis.model import ir
from analysis.model.options import Options
from tests.support.lowered import cfa_of
from tests.support.runs import program_of


def condition(call: str) -> str | None:
    """That of the first call in a function that makes this one."""
    declared = "void __assert_rtn(); void _assert(); void __assert_perror_fail(); void report(); char text[9];"
    declared += "void __assert_fail(const char *, const char *, unsigned, const char *);"
    effects = [edge.effect for edge in cfa_of(f"{declared} void f(void) {{ {call}; }}").edges]
    return failed_condition(next(effect for effect in effects if isinstance(effect, ir.Call)))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('__assert_fail("s != STAR", "t.c", 5, "f")', "s != STAR"),
        ('_assert("n > 0", "t.c", 5)', "n > 0"),
        ('__assert_rtn("f", "t.c", 5, "n > 0")', "n > 0"),
        (r'__assert_fail("c != \"a\\n\"[0]", "t.c", 5, "f")', r'c != "a\n"[0]'),
        ('__assert_fail("", "t.c", 5, "f")', None),
        (f'__assert_fail("{"x" * (LONGEST + 1)}", "t.c", 5, "f")', None),
        ('__assert_fail(text, "t.c", 5, "f")', None),
        ('__assert_perror_fail(3, "t.c", 5, "f")', None),
        ('report("n > 0", "t.c", 5, "f")', None),
    ],
)
def test_the_condition_is_what_the_call_is_passed(call: str, expected: str | None) -> None:
    assert condition(call) == expected


def test_a_reason_names_an_assertion_as_it_is_written() -> None:
    program = program_of('void f(int n) { if (n) __assert_fail("n == 0", "t.c", 1, "f"); }')
    [edge] = [edge.id for edge in program.functions["f"].edges if isinstance(edge.effect, ir.Call)]
    assert with_places(marked(program, "f", edge), program, None) == "f() (assert(n == 0))"


def test_findings_of_two_assertions_are_told_apart_by_their_conditions(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "#include <assert.h>\nvoid f(int n)\n{\n\tint s = 1;\n\tif (n)\n\t\tassert(s == 0);\n\telse\n\t\tassert(s > 1);\n}\n"
    )
    checker = Checker(Options(rules=("assertion",), engine="automaton"))
    checker.open([str(file)])
    messages = [finding.message for finding in checker.check().findings]
    checker.close()
    assert messages == ["The assertion fails: `s == 0`", "The assertion fails: `s > 1`"]
