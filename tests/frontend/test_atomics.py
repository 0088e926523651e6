"""gcc's built-in functions for atomic accesses are plain reads and writes of one thread."""

from __future__ import annotations

import subprocess

import pytest

from analysis.interpreter.outcome import Returned
from tests.support.lowered import edges_of
from tests.support.runs import main_of, run_of


@pytest.mark.parametrize(
    ("statements", "value"),
    [
        ("int a = 1; int b = __atomic_fetch_add(&a, 2, 5); return a * 10 + b;", 31),
        ("int a = 1; int b = __atomic_add_fetch(&a, 2, 5); return a * 10 + b;", 33),
        ("int a = 7; int b = __sync_fetch_and_sub(&a, 2); return a * 10 + b;", 57),
        ("int a = 7; int b = __sync_and_and_fetch(&a, 5); return a * 10 + b;", 55),
        ("unsigned char a = 255; __atomic_fetch_add(&a, 2, 0); return a;", 1),
        ("int a = 2147483647; __atomic_fetch_add(&a, 1, 0); return a < 0;", 1),
        (
            "long a = 1; __atomic_store_n(&a, 9, 0); long b = __atomic_load_n(&a, 0); b += __atomic_exchange_n(&a, 3, 0) * 10;"
            " return b + a * 100;",
            399,
        ),
        ("int a = 6; __atomic_or_fetch(&a, 1, 0); __sync_fetch_and_xor(&a, 2); return a;", 5),
        ("__int128 a = (__int128)1 << 70; __sync_fetch_and_add(&a, 1); return (int)(a >> 70) * 10 + (int)a;", 11),
        (
            "int a = 1, b = 2, c; __atomic_load(&a, &c, 5); __atomic_store(&a, &b, 5); b = 9; int d;"
            " __atomic_exchange(&a, &b, &d, 5); return 1000 * c + 100 * a + 10 * b + d;",
            1992,
        ),
        ("int x = 1, *p = 0; __atomic_store_n(&p, &x, 0); return *__atomic_load_n(&p, 0);", 1),
    ],
)
def test_what_they_do(statements: str, value: int) -> None:
    run = run_of(main_of(statements))
    assert run.end == Returned(value)
    assert run.assumptions == ()


def test_the_macros_of_the_header() -> None:
    text = """
    #include <stdatomic.h>
    int main(void)
    {
        atomic_int a = 5;
        _Atomic long b;
        int c = atomic_load(&a);
        atomic_store(&a, 6);
        atomic_init(&b, 100);
        int d = atomic_exchange(&a, 7), e = atomic_fetch_add(&a, 1);
        return c + 10 * d + atomic_load_explicit(&b, memory_order_relaxed) + 1000 * e;
    }
    """
    preprocessed = subprocess.run(["gcc", "-E", "-P", "-"], input=text, capture_output=True, text=True, check=True).stdout
    assert run_of(preprocessed).end == Returned(5 + 60 + 100 + 7000)


@pytest.mark.parametrize("qualifiers", ["volatile", "_Atomic", "const volatile"])
def test_the_type_of_a_value_with_qualifiers_is_not_understood(qualifiers: str) -> None:
    """Reads of such a variable may give any value, also if nothing in the program writes it."""
    assert f"unsupported: __auto_type with {qualifiers}" in edges_of(
        f"int f(int a) {{ {qualifiers} __auto_type b = a; return b; }}"
    )


def test_what_changes_by_itself_has_any_value() -> None:
    """The class: a read of a `volatile` object that is no read of it."""
    (question, _), *_ = run_of(main_of("volatile int a = 1; return __atomic_load_n(&a, 0);"), values=(7,)).asked
    assert question.kind == "expression"
    assert run_of(main_of("volatile int a = 1; return __atomic_fetch_add(&a, 1, 0);"), values=(7,)).end == Returned(7)
