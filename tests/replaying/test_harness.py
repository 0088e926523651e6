"""The inputs of a run as C: what is given, and what is refused."""

from __future__ import annotations

import pytest

from analysis.model.run_inputs import RunInput, RunStart
from analysis.replaying.harness import RefusedError, harness_for, stub_for
from analysis.replaying.reports import agrees, seen

FREED = "==1==ERROR: AddressSanitizer: heap-use-after-free\n    #0 in f a.c:9\n\nfreed by x\n    #0 in g a.c:4"


def test_the_words_of_the_command_line_are_those_that_the_run_read() -> None:
    inputs = (
        RunInput("parameter", "argc", 3, size=4),
        RunInput("parameter", "argv", fresh=512),
        RunInput("memory", "fresh 0", fresh=64, offset=16),
        RunInput("memory", "fresh 1", ord("x"), offset=0, size=1),
        RunInput("memory", "fresh 1", ord("z"), offset=2, size=1),
        RunInput("memory", "fresh 1", 0, offset=3, size=1),
    )
    assert harness_for(RunStart("main", inputs)).arguments == (b"a", b"xaz")


def test_each_call_gives_what_it_gave_in_the_run() -> None:
    inputs = (RunInput("result", "next", 7, call=0, size=4), RunInput("result", "next", -1, call=2, size=4))
    harness = harness_for(RunStart("main", inputs))
    assert harness.wrapped == ("next",)
    assert "case 0: return (long)7;" in harness.beside
    assert "case 2: return (long)-1;" in harness.beside
    assert "default: return (long)0;" in harness.beside


def test_an_allocation_fails_where_it_failed_and_nowhere_else() -> None:
    harness = harness_for(RunStart("main", (RunInput("allocation", "malloc", 0, call=1),)))
    assert "case 1: return (long)0;" in harness.beside
    assert "default: return (long)__real_malloc(a0, a1, a2, a3, a4, a5);" in harness.beside


def test_an_entry_that_is_not_main_is_called_with_objects_that_hold_what_was_read() -> None:
    inputs = (
        RunInput("parameter", "list", fresh=16),
        RunInput("parameter", "count", 2, size=4),
        RunInput("memory", "fresh 0", 258, offset=8, size=4),
        RunInput("memory", "a.c::total", 5, size=4),
    )
    harness = harness_for(RunStart("a.c::sum", (*inputs[:3], RunInput("memory", "total", 5, size=4))))
    assert "sum((void *)everproof_object_0, 2); return 0;" in harness.behind
    assert "(char *)&total + 0, given" in harness.behind
    assert "everproof_object_0 = calloc(1, 16);" in harness.beside
    assert "{2, 1, 0, 0}; __builtin_memcpy(everproof_object_0 + 8" in harness.beside


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (RunInput("written", "read", 1, offset=7), "writes through its argument number 8"),
        (RunInput("memory", "fresh 0", 1, offset=99, size=1), "behind an object"),
    ],
)
def test_what_cannot_be_given_is_refused(given: RunInput, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        harness_for(RunStart("main", (RunInput("parameter", "argv", fresh=8), given)))


@pytest.mark.parametrize(
    ("given", "doubt"),
    [
        (RunInput("indeterminate", "x"), "the run depends on a value that C does not define, of x"),
        (
            RunInput("memory", "line", 1, size=1),
            "the run depends on bytes of line, which a function outside of the program has written",
        ),
    ],
)
def test_what_the_program_is_not_given_is_doubted(given: RunInput, doubt: str) -> None:
    assert harness_for(RunStart("main", (given,))).doubts == (doubt,)


def test_a_failing_function_says_that_it_was_reached() -> None:
    assert "reach_error is reached" in stub_for("reach_error")
    assert stub_for("log_it") == "long log_it(void) { return 0; }"


@pytest.mark.parametrize(
    ("said", "status", "rule", "line", "agreed"),
    [
        ("a.c:4:7: runtime error: load of null pointer of type 'int'", 1, "null-dereference", 4, True),
        ("a.c:4:7: runtime error: load of null pointer of type 'int'", 1, "null-dereference", 5, False),
        ("a.c:4:7: runtime error: load of null pointer of type 'int'", 1, "array-bounds", 4, False),
        (FREED, 1, "use-after-free", 9, True),
        (FREED, 1, "use-after-free", 4, False),
        ("==1==ERROR: LeakSanitizer: detected memory leaks\n    #1 in f a.c:2", 1, "memory-leak", 4, True),
        ("t: a.c:4: f: Assertion `x' failed.", -6, "assertion", 4, True),
        ("", -6, "assertion", 4, True),
        ("", 0, "assertion", 4, False),
        ("hello", None, "lock-discipline", 4, False),
    ],
)  # fmt: skip
def test_a_report_agrees_by_its_kind_and_place(said: str, status: int | None, rule: str, line: int, agreed: bool) -> None:
    assert agrees(seen(said, status), rule, "src/a.c", line, line) is agreed
