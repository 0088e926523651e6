"""Contexts of z3, made before they are needed and ended when nobody waits: each of these takes longer than most checks."""

from __future__ import annotations

import contextlib

import z3  # type: ignore[import-untyped]  # it has no stubs
from z3 import z3core

_MOST = 2  # contexts that are made before they are needed, and so many that are to be ended: a new one takes 17 MB
_MOST_HELD = 96 * 2**20  # bytes that z3 has taken in this process, for contexts to be ended later

_spare: list[z3.Context] = []
_to_end: list[z3.Context] = []


def make_ready() -> bool:
    """Ends a context that was left, or makes one that nothing was asked in for a solver to come; whether there is more of that to
    do. What a solver answers does not depend on when its context was made."""
    if _to_end:
        _to_end.pop()
    elif len(_spare) < _MOST:
        _spare.append(z3.Context())
    return bool(_to_end) or len(_spare) < _MOST


def fresh_context() -> z3.Context:
    """A context that nothing was asked in."""
    with contextlib.suppress(IndexError):  # there is none, or another thread has taken the last one
        return _spare.pop()
    return z3.Context()


def leave(context: z3.Context) -> None:
    """Nobody needs a context any more, nor anything that was made in it. It ends when nobody waits: at once if what it holds may
    be missing for the next ones."""
    if len(_to_end) < _MOST and z3core.Z3_get_estimated_alloc_size() < _MOST_HELD:
        _to_end.append(context)
