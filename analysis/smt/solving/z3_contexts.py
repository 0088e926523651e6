"""Contexts of z3, made before they are needed and ended when nobody waits: each of these takes longer than most checks."""

from __future__ import annotations

import contextlib

import z3  # type: ignore[import-untyped]  # it has no stubs

MOST_SPARE = 2  # contexts, and so many that are not ended yet: each takes 17 MB

_spare: list[z3.Context] = []
left: list[z3.Context] = []
"""Contexts that nobody has any more."""


def make_ready() -> bool:
    """Ends a context that nobody has any more, or makes one that nothing was asked in for a solver to come; whether there is more
    of that to do. What a solver answers does not depend on when its context was made."""
    if left:
        left.pop()
    elif len(_spare) < MOST_SPARE:
        _spare.append(z3.Context())
    return bool(left) or len(_spare) < MOST_SPARE


def fresh_context() -> z3.Context:
    """A context that nothing was asked in."""
    with contextlib.suppress(IndexError):  # there is none, or another thread has taken the last one
        return _spare.pop()
    return z3.Context()
