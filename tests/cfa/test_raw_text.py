"""Text that is not preprocessed: directives inside and outside functions."""

from __future__ import annotations

from analysis.cfa.cfa_text import dump_cfa
from analysis.model import ir
from tests.support.lowered import edges_of, unit_of


def test_both_branches_of_a_condition_that_is_not_known() -> None:
    text = "int f(int a) {\n#ifdef DEBUG\n a = 1;\n#else\n a = 2;\n#endif\n return a;\n}\n"
    assert edges_of(text).splitlines() == [
        "0 -> 2  [any value]",
        "0 -> 3  [!any value]",
        "2 -> 4  a = 1",
        "3 -> 4  a = 2",
        "4 -> 1  return a",
    ]


def test_a_constant_condition() -> None:
    assert edges_of("int f(int a) {\n#if 0\n a = 1;\n#endif\n return a;\n}\n") == "0 -> 1  return a"


def test_macros_that_are_numbers() -> None:
    unit = unit_of("#define SIZE 10\n#define OTHER (0x20)\n#define TEXT puts(\nint x[SIZE];\nint f(void) { return OTHER; }\n")
    assert dump_cfa(unit.functions[0].cfa).splitlines()[1:] == ["  0 -> 1  return 32"]
    assert [v.initial for v in unit.variables] == [None]


def test_unknown_names_are_unsupported_not_errors() -> None:
    (function,) = unit_of("#include <stdio.h>\nint f(void) { fprintf(stderr, NULL); return 1; }\n").functions
    assert [e.effect for e in function.cfa.edges if isinstance(e.effect, ir.Unsupported)] == [
        ir.Unsupported("undeclared identifier stderr")
    ]
