"""Functions of the Linux kernel's locks as C that keeps the discipline: no tool knows them, so the harness defines them.

What each does is what the table of library functions says (`analysis.c.locks`), and the states of a lock are those that the
interpreter has (`analysis.interpreter.library.locks`): held, released, or unknown where the run begins in the middle of a
program's life. A violation is printed with the calls that led to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.c.functions import LIBRARY
from analysis.c.locks import (
    ENDS_LOCK,
    LOCKS,
    LOCKS_AT_ZERO,
    LOCKS_OTHERWISE,
    MAKES_LOCK,
    TRIES_AT_ZERO,
    TRIES_OTHERWISE,
    UNLOCKS,
    lock_of,
)
from analysis.model.c_types import Function
from analysis.model.run_inputs import RunInput
from analysis.replaying.marked_lines import printed
from analysis.replaying.signatures import branches, defined, parameters

AGAIN, NOT_HELD = "a lock is taken again while it is held", "a lock is released that is not held"
AT_EXIT = "a lock is held when the program ends"
_DECIDED_BY = "Linux"
_STATES = """
extern void __sanitizer_print_stack_trace(void) __attribute__((weak));
enum { RELEASED, HELD, UNKNOWN };
static struct { const void *at; int state; } everproof_locks[1000];
static int everproof_lock_count;
static int *everproof_state(const void *at)
{
    int number = 0;
    while (number < everproof_lock_count && everproof_locks[number].at != at)
        number++;
    if (number == everproof_lock_count) {
        if (number == 1000)
            _exit(3);
        everproof_locks[number].at = at;
        everproof_locks[number].state = UNKNOWN;
        everproof_lock_count++;
    }
    return &everproof_locks[number].state;
}
static void everproof_wrong(void)
{
    if (__sanitizer_print_stack_trace)
        __sanitizer_print_stack_trace();
    _exit(1);
}
static void everproof_take(const void *at)
{
    if (*everproof_state(at) == HELD) { %(again)s everproof_wrong(); }
    *everproof_state(at) = HELD;
}
static void everproof_release(const void *at)
{
    int state = *everproof_state(at);
    if (state == RELEASED || (state == UNKNOWN && %(from_start)d)) { %(not_held)s everproof_wrong(); }
    *everproof_state(at) = RELEASED;
}
"""
_AT_END = """
__attribute__((destructor)) static void everproof_end_of_locks(void)
{
    int number;
    for (number = 0; number < everproof_lock_count; number++)
        if (everproof_locks[number].state == HELD) { %(at_exit)s return; }
}
"""
_BODIES: tuple[tuple[frozenset[str], int, str], ...] = (
    (LOCKS | LOCKS_AT_ZERO, 0, "if (answer == 0) everproof_take(at); return answer;"),
    (TRIES_AT_ZERO, 0, "if (*state == HELD) return 1; if (answer == 0) everproof_take(at); return answer;"),
    (TRIES_OTHERWISE, 1, "if (*state == HELD) return 0; if (answer != 0) everproof_take(at); return answer;"),
    (LOCKS_OTHERWISE, 0, "if (*state == HELD) everproof_take(at); if (answer != 0) everproof_take(at); return answer;"),
    (UNLOCKS, 0, "everproof_release(at); return 0;"),
    (MAKES_LOCK, 0, "if (answer == 0) *state = RELEASED; return answer;"),
    (ENDS_LOCK, 0, "*state = UNKNOWN; return 0;"),
)
"""The functions, what a call returns that the run did not ask about, and what it does with the lock `at` and its `state`."""


def is_answered(name: str) -> bool:
    """Whether the harness defines a function because no tool knows that it takes or releases a lock."""
    function = LIBRARY.get(name)
    return function is not None and function.described == _DECIDED_BY and any(name in names for names, _, _ in _BODIES)


def lock_functions(
    externals: Mapping[str, Function], answers: Mapping[str, Mapping[int, Sequence[RunInput]]], rule: str, *, from_start: bool
) -> Iterator[str]:
    """The definitions of the functions of locks that the program calls. `answers`: what calls returned in the run, by function
    and number of the call; `from_start`: the run begins where the program does."""
    names = [name for name in sorted(externals) if is_answered(name)]
    if not names:
        return
    said = {"again": printed(AGAIN), "not_held": printed(NOT_HELD), "at_exit": printed(AT_EXIT)}
    yield _STATES % (said | {"from_start": from_start})
    if rule == "lock-at-exit":
        yield _AT_END % said
    for name in names:
        yield _function(name, externals[name], answers.get(name, {}), rule)


def _function(name: str, type_: Function, answers: Mapping[int, Sequence[RunInput]], rule: str) -> str:
    otherwise, body = next((answer, body) for names, answer, body in _BODIES if name in names)
    cases = "".join(
        f"case {number}: answer = {one.number}; break; "
        for number, given in sorted(answers.items())
        for one in given
        if one.kind == "result"
    )
    known = type_ if len(parameters(type_) or ()) > lock_of(name) else None
    looked = branches(known) if rule == "uninitialized-read" else ""
    start = f"static long calls; long answer = {otherwise}; const void *at = (const void *)a{lock_of(name)};"
    state = "int *state = everproof_state(at); (void)state;"
    return defined(name, known, f"{start} {looked}switch (calls++) {{ {cases}default: break; }} {state} {body}")
