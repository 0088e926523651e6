"""What a proof by closed sets claims (`closed_checker` checks it)."""

from __future__ import annotations

import msgspec

from analysis.certificate.ownership.memory_state import MemoryState


class FunctionStates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The memory states of a function by location, each location once; at others there are none."""

    function: str
    states: tuple[tuple[int, tuple[MemoryState, ...]], ...]


class ClosedSets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is claimed: no run of `entry`, called in any state, violates the rule at a place in `entry` itself. The functions are
    itself and those that it may call, callees first. Those that are left out are taken to do anything. `runs_from`: if there are
    any, the claim is about runs from these functions only, and the functions that call `entry` are among those that are given."""

    entry: str
    rule: str
    functions: tuple[FunctionStates, ...]
    runs_from: tuple[str, ...] = ()
