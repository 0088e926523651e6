"""Where the addresses of functions can come to.

They are followed from variable to variable, whatever the order of the edges and the context of calls (as Andersen's points-to
analysis does); all of memory, with the variables that are pointed to, is one place. `UNKNOWN` stands for the functions that are
not known here: those of code outside of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

from analysis.c.control import NAMED_CODE, STARTS
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Program
from analysis.model import ir

UNKNOWN = "a function that is not known"


class Place(NamedTuple):
    """What can hold an address: a variable of a function, what a function `RESULT`s in, or memory; or the address itself."""

    function: str
    name: str


_MEMORY = Place("", "")
_RESULT = "return"


class CodeAddresses:
    """Where the addresses of the functions of one program can come to. `is_closed`: no code runs but the program's and the
    system's."""

    def __init__(self, program: Program, is_closed: bool) -> None:
        self._program = program
        self._closed = is_closed

    def in_memory(self) -> frozenset[str]:
        """The functions whose addresses can be in memory."""
        return self._led.get(_MEMORY, frozenset())

    def of(self, function: str, value: ir.Expr) -> frozenset[str]:
        """The functions that a value in a function can lead to."""
        found: set[str] = set()
        for place in _held(function, value, taken_by(self._program.functions[function]).own):
            if place.name.startswith("&"):
                found.add(place.name[1:])
            else:
                found |= self._led.get(place, frozenset())
        return frozenset(found)

    @cached_property
    def _led(self) -> Mapping[Place, frozenset[str]]:
        flows: dict[Place, set[Place]] = {}
        for source, target in self._moves():
            flows.setdefault(source, set()).add(target)
        found: dict[Place, set[str]] = {}
        for name in sorted({*self._program.address_taken, UNKNOWN}):
            reached, waiting = {_address(name)}, [_address(name)]
            while waiting:
                place = waiting.pop()
                found.setdefault(place, set()).add(name)
                for following in flows.get(place, set()) - reached:
                    reached.add(following)
                    waiting.append(following)
        return {place: frozenset(names) for place, names in found.items()}

    def _moves(self) -> Iterator[tuple[Place, Place]]:
        """From where to where addresses can come."""
        program = self._program
        if not self._closed:
            yield _address(UNKNOWN), _MEMORY
        for variable in program.globals.values():
            for value in (variable.initial, *(part.value for part in variable.parts)):
                yield from ((source, _MEMORY) for source in _held("", value, frozenset()))
        for name, cfa in program.functions.items():
            pointed = taken_by(cfa).own
            if name in program.address_taken or not self._closed:  # it may be called from outside, with what is in memory
                yield from ((_MEMORY, _holder(name, parameter, pointed)) for parameter in cfa.parameters)
            for edge in cfa.edges:
                match edge.effect:
                    case ir.Assign(target, value):
                        yield from ((source, _holder(name, target, pointed)) for source in _held(name, value, pointed))
                    case ir.Return(result) if result is not None:
                        yield from ((source, Place(name, _RESULT)) for source in _held(name, result, pointed))
                    case ir.Call() as call:
                        yield from self._through(name, call, pointed)

    def _through(self, caller: str, call: ir.Call, pointed: frozenset[str]) -> Iterator[tuple[Place, Place]]:
        result = None if call.result is None else _holder(caller, call.result, pointed)
        for name in self._program.targets(call) or ("",):
            callee = self._program.functions.get(name)
            if result is not None:
                yield (Place(name, _RESULT) if callee is not None else _MEMORY), result
                if name in NAMED_CODE:
                    yield _address(UNKNOWN), result
            parameters = () if callee is None else callee.parameters
            addressed = frozenset() if callee is None else taken_by(callee).own
            start = STARTS.get(name) if callee is None else None
            for number, (argument, parameter) in enumerate(zip_longest(call.arguments, parameters)):
                if argument is None or (start is not None and number == start.argument):
                    continue  # it is kept for being started, and comes back as what was there before
                target = _MEMORY if parameter is None else _holder(name, parameter, addressed)
                yield from ((source, target) for source in _held(caller, argument, pointed))


def _address(function: str) -> Place:
    return Place("", "&" + function)


def _holder(function: str, target: ir.Expr, pointed: frozenset[str]) -> Place:
    root = ir.root(target)
    if isinstance(root, ir.Var) and root.scope not in ("global", "function") and root.name not in pointed:
        return Place(function, root.name)
    return _MEMORY


def _held(function: str, expr: ir.Expr, pointed: frozenset[str]) -> Iterator[Place]:
    """Where an address that the value holds may come from."""
    for part in ir.walk(expr):
        if isinstance(part, ir.Var) and part.scope == "function":
            yield _address(part.name)
        elif isinstance(part, ir.Var) and part.scope != "global" and part.name not in pointed:
            yield Place(function, part.name)
        elif isinstance(part, ir.LVALUES):
            yield _MEMORY
