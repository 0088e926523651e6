"""What is claimed of a function: that it violates a rule nowhere, where its callers keep what it needs."""

from __future__ import annotations

import msgspec

from analysis.model import ir


class FunctionNeeds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a function needs of its callers: expressions over its parameters that must not be zero, or null."""

    function: str
    needs: tuple[ir.Expr, ...]


class Requirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No run of `entry`, called in any state, violates the rule at a place in `entry` itself, nor calls a function of the program
    without what that needs, unless nothing is violated there with what it passes. `functions` are those that need something,
    sorted. `runs_from`: if there are any, the claim is about runs from these functions only, where all callers of `entry` keep
    what it needs."""

    entry: str
    rule: str
    functions: tuple[FunctionNeeds, ...] = ()
    runs_from: tuple[str, ...] = ()
