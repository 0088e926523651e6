"""What a model chooses for the inputs of a path, in C's terms: numbers, and pointers as objects with offsets."""

from __future__ import annotations

import msgspec

from analysis.model.c_types import Pointer
from analysis.smt.encoding.numbers.formula import Input
from analysis.smt.encoding.paths.path_state import State
from analysis.smt.encoding.storage.path_memory import Memory
from analysis.smt.encoding.storage.regions import RegionKind
from analysis.smt.solving.solver import Model


class Location(msgspec.Struct, frozen=True):
    """A place in memory. `object` is the name of a variable or function (its linkage name if it is global), of the function that
    allocated it, or "memory" for what was there outside the path; there `offset`, in bytes, counts from address 0, so that two
    places outside can be compared. `number` tells objects of one name apart."""

    kind: RegionKind
    object: str
    number: int
    offset: int


class Assigned(msgspec.Struct, frozen=True):
    """An input and what the model has it be: a number, a truth value for an allocation, None for the null pointer, another
    pointer's place. A pointer that is no object's is a number. `place` says of which memory the input is the content."""

    input: Input
    value: bool | int | float | Location | None
    place: Location | None = None


def assigned(state: State, model: Model) -> tuple[Assigned, ...]:
    """The inputs of a path in the order in which a run needs them, with their values in a model of the path's formula."""
    return tuple(_assigned(state, model, given) for given in state.inputs())


def _assigned(state: State, model: Model, given: Input) -> Assigned:
    place = None
    if given.address is not None and given.region is not None:
        offset = int(model.value(given.address))
        region = state.memory.regions[given.region]
        place = Location(region.kind, region.name, region.number, offset)
    if given.kind == "allocation":
        return Assigned(given, bool(model.value(given.term)), place)
    value = state.arithmetic.decode(model.value(given.term), given.type)
    if isinstance(given.type, Pointer):
        return Assigned(given, _pointer(state.memory, int(value)), place)
    return Assigned(given, value, place)


def _pointer(memory: Memory, address: int) -> Location | int | None:
    if address == 0:
        return None
    number = memory.addresses.region(address)
    if number is not None:
        region = memory.regions[number]
        return Location(region.kind, region.name, number, address - (memory.addresses.known_base(number) or 0))
    if address >= memory.addresses.outside:
        outside = memory.regions[0]
        return Location(outside.kind, outside.name, 0, address)
    return address
