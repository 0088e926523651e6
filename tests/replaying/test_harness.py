"""The inputs of a run as C: what is given, and what is refused."""

from __future__ import annotations

import pytest

from analysis.c.functions import LIBRARY
from analysis.c.locks import UNLOCKS
from analysis.model.c_types import INT, Floating, Function, Integer, Pointer, Record, Void
from analysis.model.run_inputs import RunInput, RunStart
from analysis.replaying.given_objects import RefusedError
from analysis.replaying.harness import Harness, harness_for
from analysis.replaying.lock_answers import is_answered
from analysis.replaying.reports import agrees, seen

FREED = "==1==ERROR: AddressSanitizer: heap-use-after-free\n    #0 in f a.c:9\n\nfreed by x\n    #0 in g a.c:4"
LEAKED = """
==1==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 4 byte(s) in 1 object(s) allocated from:
    #0 0x1 in malloc asan.cpp:145
    #1 0x2 in take a.c:2
    #2 0x3 in again a.c:7
    #3 0x3 in again a.c:7
    #4 0x4 in main a.c:9

SUMMARY: AddressSanitizer: 4 byte(s) leaked in 1 allocation(s).
"""


def made(run: RunStart, rule: str = "null-dereference", **externals: Function) -> Harness:
    return harness_for(run, externals, rule)


def test_the_words_of_the_command_line_are_those_that_the_run_read() -> None:
    inputs = (
        RunInput("parameter", "argc", 3, size=4),
        RunInput("parameter", "argv", fresh=512),
        RunInput("memory", "fresh 0", fresh=64, offset=16),
        RunInput("memory", "fresh 1", ord("x"), offset=0, size=1),
        RunInput("memory", "fresh 1", ord("z"), offset=2, size=1),
        RunInput("memory", "fresh 1", 0, offset=3, size=1),
    )
    assert made(RunStart("main", inputs)).arguments == (b"a", b"xaz")


def test_each_call_gives_what_it_gave_in_the_run() -> None:
    inputs = (RunInput("result", "next", 7, call=0, size=4), RunInput("result", "next", -1, call=2, size=4))
    harness = made(RunStart("main", inputs))
    assert harness.wrapped == ("next",)
    assert "case 0: return (long)7;" in harness.beside
    assert "case 2: return (long)-1;" in harness.beside
    assert "default: return (long)0;" in harness.beside


def test_an_allocation_fails_where_it_failed_and_nowhere_else() -> None:
    harness = made(RunStart("main", (RunInput("allocation", "malloc", 0, call=1),)))
    assert "case 1: return (long)0;" in harness.beside
    assert "default: return (long)__real_malloc(a0, a1, a2, a3, a4, a5);" in harness.beside


def test_an_entry_that_is_not_main_is_called_with_objects_that_hold_what_was_read() -> None:
    inputs = (
        RunInput("parameter", "list", fresh=16),
        RunInput("parameter", "count", 2, size=4),
        RunInput("memory", "fresh 0", 258, offset=8, size=4),
        RunInput("memory", "a.c::total", 5, size=4),
    )
    harness = made(RunStart("a.c::sum", (*inputs[:3], RunInput("memory", "total", 5, size=4))))
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
        made(RunStart("main", (RunInput("parameter", "argv", fresh=8), given)))


@pytest.mark.parametrize(
    ("given", "doubt"),
    [
        (RunInput("indeterminate", "x"), "the run depends on a value that C does not define, of x"),
        (
            RunInput("memory", "line", 1, size=1),
            "the run depends on bytes of line that nothing in the program has set",
        ),
    ],
)
def test_what_the_program_is_not_given_is_doubted(given: RunInput, doubt: str) -> None:
    assert made(RunStart("main", (given,))).doubts == (doubt,)


def test_a_failing_function_says_that_it_was_reached() -> None:
    harness = made(RunStart("main"), log_it=Function(Void(), ()), share=Function(Floating(64, "double"), (INT,)))
    assert "reach_error is reached" in harness.stub("reach_error")
    assert harness.stub("log_it") == "long log_it(void) { return 0; }"
    assert harness.stub("share") == "double share(int a0) { return 0; }"


def test_what_is_passed_is_looked_at_where_a_value_was_never_set() -> None:
    put = Function(Void(), (INT, Pointer(Integer(8, True, "char"))))
    assert made(RunStart("main"), "uninitialized-read", put=put).stub("put").count("if (a") == 2
    assert "if (a" not in made(RunStart("main"), put=put).stub("put")
    by_value = Function(Void(), (Record("struct", "struct pair"),))
    assert "if (a" not in made(RunStart("main"), "uninitialized-read", put=by_value).stub("put")


def test_all_locks_of_the_kernel_are_answered_and_no_others() -> None:
    known = {name for name in UNLOCKS if is_answered(name)}
    assert known == {name for name in UNLOCKS if LIBRARY[name].described == "Linux"}
    assert {"mutex_unlock", "spin_unlock"} < known
    assert "pthread_mutex_unlock" not in known
    lock = Function(INT, (Pointer(Void()),))
    harness = made(RunStart("main", (RunInput("result", "mutex_trylock", 0, size=4),)), "lock-discipline", mutex_trylock=lock)
    assert "mutex_trylock" not in harness.wrapped
    assert "case 0: answer = 0;" in harness.beside
    other = made(RunStart("main"), "lock-discipline", mutex_unlock=Function(Void(), ()))
    assert "long mutex_unlock(long a0, " in other.beside  # declared otherwise than the kernel does


@pytest.mark.parametrize(
    ("said", "status", "rule", "line", "agreed"),
    [
        ("a.c:4:7: runtime error: load of null pointer of type 'int'", 1, "null-dereference", 4, True),
        ("a.c:4:7: runtime error: load of null pointer of type 'int'", 1, "null-dereference", 5, False),
        ("a.c:4:7: runtime error: load of null pointer of type 'int'", 1, "array-bounds", 4, False),
        (FREED, 1, "use-after-free", 9, True),
        (FREED, 1, "use-after-free", 4, False),
        ("t: a.c:4: f: Assertion `x' failed.", -6, "assertion", 4, True),
        ("", -6, "assertion", 4, True),
        ("", 0, "assertion", 4, False),
        ("hello", None, "lock-discipline", 4, False),
        ("the end is reached\n", 0, "assertion", 4, False),
        ("no null pointer here\n", 0, "null-dereference", 4, False),
    ],
)  # fmt: skip
def test_a_report_agrees_by_its_kind_and_place(said: str, status: int | None, rule: str, line: int, agreed: bool) -> None:
    assert any(agrees(one, rule, [("src/a.c", line, line)]) for one in seen(said, status)) is agreed


@pytest.mark.parametrize(
    ("calls", "agreed"),
    [([], True), ([2], True), ([2, 7, 7, 9], True), ([9], True), ([3], False), ([9, 2], False), ([7, 7, 7], False)],
)
def test_a_leak_is_that_of_the_block_that_these_calls_made(calls: list[int], agreed: bool) -> None:
    allocated = [("src/a.c", line, line) for line in calls]
    assert any(agrees(one, "memory-leak", [("src/a.c", 12, 12)], allocated) for one in seen(LEAKED, 1)) is agreed
