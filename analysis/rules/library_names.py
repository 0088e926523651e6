"""Names of library functions for rules: `names: {$FREE: {library: frees}}` in a rule file. `analysis.c.functions` describes the
functions. What a project says of its own functions makes these functions of a kind as well: `arguments_of_kind`.

To add a kind, add a row to `KINDS`. The user guide lists the kinds; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from analysis.c import locks
from analysis.c.blocks import RELEASES, RESIZES
from analysis.c.control import ERRORS, FAILED_ASSERTIONS
from analysis.c.functions import Function, all_with

_OBJECTS = ("in", "copied", "text", "out", "inout", "format", "scan")


class Kind(NamedTuple):
    """A kind of library functions: what they do, in words that follow "functions that", and their names. `wanted`: whether a
    function that a project describes is one; None if none can be. `uses`: what such a function does with the argument that makes
    it one; nothing if that is its result."""

    meaning: str
    names: frozenset[str]
    wanted: Callable[[Function], bool] | None = None
    uses: tuple[str, ...] = ()


def _may_return_null(function: Function) -> bool:
    return function.null != "" and function.result not in ("number", "descriptor")


def _may_fail(function: Function) -> bool:
    return _may_return_null(function) and function.null == "?"


def _lacks_some(function: Function) -> bool:
    return _may_return_null(function) and function.null == "~" and "far-off" not in function.besides


def _kind(meaning: str, wanted: Callable[[Function], bool], *uses: str) -> Kind:
    return Kind(meaning, all_with(wanted), wanted, uses)


def _of_use(meaning: str, *uses: str) -> Kind:
    return _kind(meaning, lambda one: bool(one.positions(*uses)), *uses)


KINDS: dict[str, Kind] = {
    "accesses": _of_use("read or write an object that they are passed", *_OBJECTS),
    "allocates": _kind("return a new block of memory", lambda one: one.gives_block),
    "closes": _of_use("close a stream, a directory or a descriptor", "closed"),
    "closes-stream": _kind("close a stream or a directory", lambda one: one.closes_block, "closed"),
    "error": Kind("are called where an error location is", ERRORS),
    "fails-assertion": Kind("are called where an assertion has failed", FAILED_ASSERTIONS - ERRORS),
    "frees": _of_use("free a block of memory", "freed")._replace(names=RELEASES),
    "locks": Kind("wait for a lock and take it", locks.LOCKS),
    "locks-at-zero": Kind("wait for a lock, and return 0 if they take it", locks.LOCKS_AT_ZERO),
    "locks-otherwise": Kind("wait for a lock, and do not return 0 if they take it", locks.LOCKS_OTHERWISE),
    "makes-lock": Kind("make a lock that nobody holds", locks.MAKES_LOCK),
    "may-fail": _kind("may return a null pointer whatever they are passed", _may_fail),
    "may-return-null": _kind("may return a null pointer", _may_return_null),
    "null-for-some": _kind("return a null pointer for some arguments, and only for these", _lacks_some),
    "opens-descriptor": _kind("return a new descriptor", lambda one: one.result == "descriptor"),
    "opens-stream": _kind("return a new stream or directory", lambda one: one.result in ("stream", "directory")),
    "resizes": Kind("free a block and return one of another size", RESIZES),
    "tries-at-zero": Kind("take a lock if nobody holds it, and return 0 then", locks.TRIES_AT_ZERO),
    "tries-otherwise": Kind("take a lock if nobody holds it, and do not return 0 then", locks.TRIES_OTHERWISE),
    "unlocks": Kind("release a lock", locks.UNLOCKS),
    "uses-stream": _of_use("use a stream or a directory", "handle"),
}
"""The kinds that a rule file can name, in alphabetical order."""


def arguments_of_kind(function: Function, kind: str) -> tuple[int, ...] | None:
    """The numbers of the arguments that make a function which a project describes one of a kind; none if its result does. None if
    it is not of the kind."""
    found = KINDS[kind]
    if found.wanted is None or not found.wanted(function):
        return None
    positions = function.positions(*found.uses)
    is_stream = kind == "closes-stream"  # of a function that closes a descriptor as well, only the stream
    return tuple(at for at in positions if not (is_stream and "n" in function.arguments[at].uses))
