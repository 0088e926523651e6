"""Functions after which control does not only go on behind the call (C11 7.13, 7.14, 7.22.4, 7.26.5, POSIX)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from analysis.c.declared import is_reserved
from analysis.c.functions import LIBRARY, all_with


class Start(NamedTuple):
    """What a function starts: the function that argument number `argument` points to, or (`inside`) one that a structure holds to
    which it points. `thread`: in a thread of its own, else as a handler of signals."""

    argument: int
    inside: bool = False
    thread: bool = False


def _starts() -> Iterator[tuple[str, Start]]:
    for name, function in LIBRARY.items():
        for at in function.positions("starts", "starts-inside"):
            yield name, Start(at, "starts-inside" in function.arguments[at].uses, "thread" in function.besides)


def _has(*words: str) -> frozenset[str]:
    return all_with(lambda function: not function.besides.isdisjoint(words))


STARTS: dict[str, Start] = dict(_starts())
"""Functions after which other functions of the program can run at any time."""

SETJMP = _has("setjmp")
"""Functions that come back again for each jump, the first time with zero."""
TWICE = _has("setjmp", "twice")
"""Functions that come back more than once; in between everything can have been changed."""
JUMPS = _has("jumps")
"""Functions with which control goes on elsewhere in the program."""
SWITCHES = _has("switches")
"""Functions after which something runs what others ran."""
BY_NUMBER = _has("by-number")
"""Functions whose meaning depends on a number; a number that they are passed may be an address."""
NAMED_CODE = _has("named-code")
"""Functions that return code of which only a name is known."""
ERRNO = _has("errno")
"""Functions that return the address of errno, of various libraries."""
FAILED_ASSERTIONS = _has("assertion")
"""Functions that are called where an assertion has failed."""
ERRORS = _has("error")
"""Those of them whose call is the violation, whatever the program defines them to do."""
KEEPS_BUFFERS = _has("buffers")
"""Functions that keep what they are passed: later calls of others write to it, or call it."""

UNMODELLED = frozenset(STARTS) | _has("setjmp", "twice", "jumps", "switches", "registers", "buffers")
"""Functions after which control is where CFAs do not have it, or others that are called later write to objects that they are not
passed: what a stream was given as its buffer (C11 7.21.5.6)."""

UNREACHABLE = "__builtin_unreachable"
"""Stands where a program says that no run comes (GCC manual, "Other Builtins")."""


NEVER_RETURN = all_with(lambda function: function.never_returns)
"""Functions that do not come back, whatever their declaration says."""
NEVER_RETURN_ANYWHERE = frozenset(name for name in NEVER_RETURN if is_reserved(name) and LIBRARY[name].described != "SV-COMP")
"""Those of them that no program may define (C11 7.1.3), those of verifiers aside: one file's declaration is enough to know it."""
