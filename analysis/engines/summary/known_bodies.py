"""Encoded bodies that are kept from revision to revision, with all that they depend on.

The partition of a body depends on its edges, on the state variables of the function and of those that it calls, on what these
read and change, and on what the program says outside of bodies: its global variables, types, external functions, and which
functions have their addresses taken. A body is encoded anew if any of that is another one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from analysis.cfa.graph import Cfa
from analysis.engines.summary.body_partitions import Partition
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import StateVariable

_MOST = 4  # questions whose bodies are kept: by property, bound and encoding


class Interface(NamedTuple):
    """What a function reads of the state when it is entered, and what may be different when it returns."""

    inputs: tuple[StateVariable, ...]
    changed: tuple[StateVariable, ...]


class EncodedBody(NamedTuple):
    """The partition of a body, its interface in terms of state variables, and the assumptions of its formulas."""

    partition: Partition
    interface: Interface
    assumptions: tuple[str, ...]


class _Kept(NamedTuple):
    cfa: Cfa
    around: object
    encoded: EncodedBody


class _Question(NamedTuple):
    world: object
    bodies: dict[str, _Kept]


class KnownBodies:
    """The bodies of the last revision, for each of the last few questions."""

    def __init__(self) -> None:
        self._questions: dict[Hashable, _Question] = {}

    def of(self, question: Hashable, system: System) -> BodiesOfProgram:
        """Those that a program may have in common with the last one of which the same was asked."""
        world = _world(system)
        before = self._questions.pop(question, None)
        if before is None or before.world != world:
            before = _Question(world, {})
        self._questions[question] = before
        while len(self._questions) > _MOST:
            del self._questions[next(iter(self._questions))]
        return BodiesOfProgram(before.bodies)


class BodiesOfProgram:
    """Bodies by function."""

    def __init__(self, bodies: dict[str, _Kept]) -> None:
        self._bodies = bodies

    def find(self, cfa: Cfa, around: object) -> EncodedBody | None:
        """The encoded body of a function, if it and all `around` it are as they were."""
        known = self._bodies.get(cfa.name)
        return known.encoded if known is not None and known.around == around and _is_same(known.cfa, cfa) else None

    def keep(self, cfa: Cfa, around: object, encoded: EncodedBody) -> None:
        """Takes an encoded body."""
        self._bodies[cfa.name] = _Kept(cfa, around, encoded)


def _is_same(one: Cfa, other: Cfa) -> bool:
    """Whether two functions are the same to the ids of their edges, which the slots of calls have in their names."""
    if one is other:
        return True
    return (one.digest, one.entry, one.exit, one.parameters, one.edges) == (
        other.digest,
        other.entry,
        other.exit,
        other.parameters,
        other.edges,
    )


def _world(system: System) -> object:
    """What a program says outside of bodies, as far as their formulas depend on it."""
    program, vocabulary = system.program, system.vocabulary
    objects = vocabulary.objects
    return (
        program.globals,
        program.externals,
        program.records,
        program.address_taken,
        {name: (cfa.type, cfa.parameters) for name, cfa in program.functions.items()},
        objects.owned(""),
        objects.has_plain_characters,
        vocabulary.statics,
        system.is_deterministic,
    )


def around(system: System, function: str, context: int, called: Mapping[str, tuple[Interface, int, int]]) -> object:
    """What the body of a function depends on beside that: its context and state variables, and of each function that it calls
    the interface, the contexts of its body and of its arguments, and the state variables."""
    objects = system.vocabulary.objects
    return context, objects.owned(function), [(name, below, objects.owned(name)) for name, below in sorted(called.items())]
