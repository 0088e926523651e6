"""Results that are kept as long as what they are about is alive. Most CFAs stay the same objects in the next revision, and so
does what follows from one of them alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

_About = TypeVar("_About")
_Result = TypeVar("_Result")


def kept_with(make: Callable[[_About], _Result]) -> Callable[[_About], _Result]:
    """Makes a function that computes its result once for each argument, which must not change. A result may refer to its argument
    by weak references only, or both stay alive for ever."""
    known: WeakKeyDictionary[_About, _Result] = WeakKeyDictionary()

    @wraps(make)
    def kept(about: _About) -> _Result:
        try:
            return known[about]
        except KeyError:
            pass
        found = known[about] = make(about)
        return found

    return kept
