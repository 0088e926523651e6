"""Encoded bodies that are kept over revisions, with all that they depend on.

The partition of a body depends on its edges, on the state variables of the function and of those that it calls, on what these
read and change, and on what the program says outside of bodies: its global variables, types, external functions, and which
functions have their addresses taken. A body is encoded anew if any of that is another one. Functions that call each other are
kept together. The last few bodies of each are kept: an edit is often undone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from analysis.cfa.graph import Cfa
from analysis.engines.summary.body_partitions import Partition
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import StateVariable

_MOST = 4  # questions whose bodies are kept: by property, bound and encoding
_VERSIONS = 3  # of a body


class Interface(NamedTuple):
    """What a function reads of the state when it is entered, and what may be different when it returns."""

    inputs: tuple[StateVariable, ...]
    changed: tuple[StateVariable, ...]


class EncodedBodies(NamedTuple):
    """The partitions of functions that call each other, or of one function, their interfaces in terms of state variables, and the
    assumptions of their formulas."""

    partitions: Sequence[Partition]
    interfaces: Sequence[Interface]
    assumptions: tuple[str, ...]


class _Kept(NamedTuple):
    cfas: Sequence[Cfa]
    around: object
    encoded: EncodedBodies


_Bodies = dict[tuple[str, ...], list[_Kept]]
"""By the names of functions that call each other; the last version first."""


class _Question(NamedTuple):
    world: object
    bodies: _Bodies


class KnownBodies:
    """The bodies of the last few revisions, for each of the last few questions."""

    def __init__(self) -> None:
        self._questions: dict[Hashable, _Question] = {}

    def of(self, question: Hashable, system: System) -> BodiesOfProgram:
        """Those that a program may have in common with the last ones of which the same was asked."""
        world = _world(system)
        before = self._questions.pop(question, None)
        if before is None or before.world != world:
            before = _Question(world, {})
        self._questions[question] = before
        while len(self._questions) > _MOST:
            del self._questions[next(iter(self._questions))]
        return BodiesOfProgram(before.bodies)


class BodiesOfProgram:
    """Bodies by functions."""

    def __init__(self, bodies: _Bodies) -> None:
        self._bodies = bodies

    def find(self, cfas: Sequence[Cfa], around: object) -> EncodedBodies | None:
        """The encoded bodies of functions, if they and all `around` them are as they were in a version that is kept."""
        versions = self._bodies.get(_names(cfas), [])
        for number, known in enumerate(versions):
            if known.around == around and all(map(_is_same, known.cfas, cfas)):
                versions.insert(0, versions.pop(number))
                return known.encoded
        return None

    def keep(self, cfas: Sequence[Cfa], around: object, encoded: EncodedBodies) -> None:
        """Takes encoded bodies."""
        versions = self._bodies.setdefault(_names(cfas), [])
        versions.insert(0, _Kept(cfas, around, encoded))
        del versions[_VERSIONS:]


def _names(cfas: Sequence[Cfa]) -> tuple[str, ...]:
    return tuple(cfa.name for cfa in cfas)


def _is_same(one: Cfa, other: Cfa) -> bool:
    """Whether two functions are the same to the ids of their edges, which places of violations are named by."""
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
