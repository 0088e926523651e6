"""Runs read the arguments of `...` one after the other (C11 7.16)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from analysis.interpreter.outcome import NotModelled, Observation, Returned, Run
from tests.support.runs import run_of

WORD = re.compile(r"\bva_(?=start|arg|copy|end)")

LISTS = (
    "typedef __builtin_va_list va_list; int vprintf(const char *, va_list); int vsnprintf(char *, size_t, const char *, va_list);"
    "struct pair { int a, b; };"
)
SUM = "int sum(int n, ...) { va_list l; int s = 0; va_start(l, n); while (n--) s = 10 * s + va_arg(l, int); return s; }"


def of(text: str, *arguments: Any, **options: Any) -> Run:
    """A run of a text that spells `va_start` and its like as `<stdarg.h>` does."""
    return run_of(WORD.sub("__builtin_va_", LISTS + text), *arguments, **options)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (SUM + "int main(void) { char c = 2; return sum(3, 1, c, (short)3); }", 123),
        (SUM + "int main(void) { return sum(2, sum(1, 4), sum(2, 0, 5)); }", 45),
        (
            "int of(va_list *l) { return va_arg(*l, int); }"
            "int f(int n, ...) { va_list l; va_start(l, n); int a = of(&l); return a * 10 + va_arg(l, int); }"
            "int main(void) { return f(0, 6, 7); }",
            67,
        ),
        (
            "int v(va_list l) { return va_arg(l, int) * 10 + va_arg(l, int); }"
            "int f(int n, ...) { va_list l; va_start(l, n); return v(l); }"
            "int main(void) { return f(0, 8, 9); }",
            89,
        ),
        (
            "int f(int n, ...) { va_list l, m; va_start(l, n); int a = va_arg(l, int); va_copy(m, l);"
            " int b = va_arg(l, int); return a * 100 + b * 10 + va_arg(m, int); }"
            "int main(void) { return f(0, 1, 2, 3); }",
            122,
        ),
        (
            "int f(int n, ...) { va_list l; va_start(l, n); struct pair p = va_arg(l, struct pair);"
            " char *s = va_arg(l, char *); double d = va_arg(l, double); return p.b * 100 + s[1] - '0' + (int)d; }"
            'int main(void) { struct pair p = {1, 2}; return f(0, p, "34", 5.5f); }',
            209,
        ),
        (
            "int f(char *to, const char *format, ...) { va_list l; va_start(l, format); return vsnprintf(to, 8, format, l); }"
            'int main(void) { char text[8]; int n = f(text, "%d-%s", 42, "x"); return n * 100 + text[3] - text[2]; }',
            400 + ord("x") - ord("-"),
        ),
    ],
)
def test_lists_are_read_in_order(text: str, value: int) -> None:
    run = of(text)
    assert run.end == Returned(value)
    assert run.assumptions == ()


def test_formatted_output_takes_a_list() -> None:
    say = "void say(const char *f, ...) { va_list l; va_start(l, f); vprintf(f, l); va_end(l); }"
    run = of(say + 'int main(void) { say("%s=%d\\n", "x", 3); return 0; }')
    assert run.output == "x=3\n"
    assert run.assumptions == ()


@pytest.mark.parametrize("call", ["sum(2, 1)", "sum(1, 1.0)"])
def test_what_was_not_passed_is_not_read(call: str) -> None:
    assert isinstance(of(SUM + f"int main(void) {{ return {call}; }}").end, NotModelled)


def test_of_a_wider_integer_the_low_part_is_assumed_to_be_read() -> None:
    run = of(SUM + "int main(void) { return sum(1, 4294967298ul); }")
    assert run.end == Returned(2)
    assert run.assumptions == ("va_arg of type int reads the low part of unsigned long",)


def test_arguments_of_an_entry_are_inputs() -> None:
    run = of(SUM, [1, 77], entry="sum")
    assert run.end == Returned(77)
    assert [question.kind for question, _ in run.asked] == ["parameter", "expression"]


def test_a_list_that_was_printed_is_read_no_more() -> None:
    text = (
        "int f(const char *s, ...) { va_list l; va_start(l, s); vprintf(s, l); return va_arg(l, int); }"
        'int main(void) { return f("", 5); }'
    )
    run = of(text, [6])
    assert [question.kind for question, _ in run.asked] == ["expression"]


def test_pointers_in_a_list_lead_to_their_objects() -> None:
    text = (
        "void release(int n, ...) { va_list l; va_start(l, n); while (n--) free(va_arg(l, void *)); }"
        "int main(void) { char *p = malloc(1); release(2, p, p); return 0; }"
    )
    end = of(text).end
    assert isinstance(end, Observation)
    assert end.kind == "double-free"
