"""Functions that a program declares itself by the name of a library function: which of them cannot be that function, and which
are taken for it (`analysis.c.declared`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

from analysis.c.declared import agrees, call_agrees, is_reserved
from analysis.c.functions import known
from analysis.cfa.building.unit import Unit
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, External, Program
from analysis.frontend.declarations.file_level import FileLevel
from analysis.model import c_types, ir
from analysis.model.assumptions import LIBRARY_NAMES

UNLIKE = "a declaration or call that does not fit the library function of that name"

_declared: WeakKeyDictionary[FileLevel, tuple[str, ...]] = WeakKeyDictionary()


def unlike(units: Sequence[Unit]) -> Iterator[str]:
    """The functions that are declared otherwise than the library function of that name. Where the program does not define them,
    what the tables say of that name does not hold for them."""
    for unit in units:
        if unit.level not in _declared:
            _declared[unit.level] = tuple(_unlike(unit.declared))
        yield from (*_declared[unit.level], *_unlike(unit.implicit))


def _unlike(externals: Sequence[External]) -> Iterator[str]:
    return (one.name for one in externals if not one.system and not agrees(one.name, one.type))


def unlike_calls(cfa: Cfa) -> Iterator[str]:
    """The functions that are called without a prototype, with arguments that are not those of the library function. The same
    holds of these."""
    for edge in cfa.calls:
        if isinstance(edge.effect, ir.Call) and isinstance(callee := edge.effect.callee, ir.Var) and callee.scope == "function":
            is_old = isinstance(callee.type, c_types.Function) and not callee.type.prototyped
            if is_old and not call_agrees(callee.name, tuple(map(_passed, edge.effect.arguments))):
                yield callee.name


def _passed(argument: ir.Expr) -> c_types.Type | None:
    """The type of an argument; None if it is zero, which is a null pointer, too."""
    return None if isinstance(argument, ir.IntConst) and argument.value == 0 else argument.type


def taken_for_library(program: Program) -> tuple[str, ...]:
    """What has to be assumed because functions that are used have names of library functions, and are neither declared in a
    header of the system's nor reserved to the library: the sentence, or nothing."""
    own = {name for name, one in program.externals.items() if not one.system and known(name) and not is_reserved(name)}
    used = set[str]().union(*callees(program).values()) if own else set[str]()
    names = sorted(own & used)
    return (f"{LIBRARY_NAMES.sentence}: {', '.join(names)}",) if names else ()
