"""Models of library functions with arguments that programs hardly pass: each gives what C says, or the run ends as not modelled.

The class: nothing to write, bases that do not exist, numbers with thousands of digits, precisions of gigabytes or below zero, and
ends of the program that call no handlers.
"""

from __future__ import annotations

import pytest

from analysis.interpreter.outcome import Exited, NotModelled, Observation, Returned
from tests.support.runs import main_of, run_of

FWRITE = "size_t fwrite(const void *, size_t, size_t, FILE *);"


@pytest.mark.parametrize(("size", "count", "value"), [(0, 5, 0), (5, 0, 0), (1, 1, 1)])
def test_as_many_elements_are_written_as_there_are(size: int, count: int, value: int) -> None:
    assert run_of(main_of(f'return (int)fwrite("x", {size}, {count}, stderr);', FWRITE)).end == Returned(value)


HANDLER = "int atexit(void (*)(void)); static void last(void) { reach_error(); }"


@pytest.mark.parametrize("name", ["_exit", "_Exit", "quick_exit"])
def test_these_ends_call_no_handler(name: str) -> None:
    assert run_of(main_of(f"atexit(last); {name}(3);", f"void {name}(int); {HANDLER}")).end == Exited(3)


def test_other_ends_call_handlers() -> None:
    assert isinstance(run_of(main_of("atexit(last); exit(3);", HANDLER)).end, Observation)
    assert isinstance(run_of(main_of("atexit(last); return 3;", HANDLER)).end, Observation)


@pytest.mark.parametrize("base", [1, 37, -1, 2_000_000_000])
def test_bases_that_do_not_exist_are_not_modelled(base: int) -> None:
    assert isinstance(run_of(main_of(f'return (int)strtol("0", 0, {base});')).end, NotModelled)


@pytest.mark.parametrize(("base", "value"), [(0, 10), (2, 2), (10, 10), (36, 36)])
def test_other_bases_are(base: int, value: int) -> None:
    assert run_of(main_of(f'return (int)strtol("10", 0, {base});')).end == Returned(value)


def test_numbers_of_many_digits() -> None:
    zeros, nines = "0" * 5000, "9" * 5000
    assert run_of(
        main_of(f'return (int)(strtol("{zeros}7", 0, 10) + (strtol("{nines}", 0, 10) == 9223372036854775807L));')
    ).end == (Returned(8))
    assert run_of(main_of(f'return atoi("{zeros}7");')).end == Returned(7)


@pytest.mark.parametrize("text", ["9" * 5000, "2147483648", "-2147483649"])
def test_what_int_cannot_represent_is_not_converted(text: str) -> None:
    assert isinstance(run_of(main_of(f'return atoi("{text}");')).end, NotModelled)


def test_the_ends_of_int_are_converted() -> None:
    assert run_of(main_of('return atoi("2147483647") + atoi("-2147483648");')).end == Returned(-1)


@pytest.mark.parametrize(
    "arguments",
    [
        '"%.2000000000d", 1',
        '"%.2000000000f", 1.0',
        '"%.*d", 2000000000, 1',
        f'"%.{"9" * 5000}d", 1',
        f'"%{"9" * 5000}d", 1',
        '"%*d", 2000000000, 1',
        '"' + 150 * "%100000d" + '", ' + ", ".join(150 * ["1"]),
    ],
)
def test_text_of_gigabytes_is_not_modelled(arguments: str) -> None:
    assert isinstance(run_of(main_of(f"return printf({arguments}) == 0;")).end, NotModelled)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('"%.5d", 1', "00001"),
        ('"%.0000000000000000005d", 1', "00001"),
        ('"%.*d", -5, 1', "1"),
        ('"%.*f", -1, 1.0', "1.000000"),
        ('"%.*s", -1, "ab"', "ab"),
        ('"%.*s", 1, "ab"', "a"),
        ('"%-*d|", 3, 1', "1  |"),
        ('"%*d|", -3, 1', "1  |"),
    ],
)
def test_widths_and_precisions(arguments: str, text: str) -> None:
    assert run_of(main_of(f"printf({arguments}); return 0;")).output == text
