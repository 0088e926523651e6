"""Names that may be of one object or function with others: those that the assembler knows by other names (GCC manual,
"Controlling Names Used in Assembler Code"), and those of variables to which a library gives two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.c.library_variables import SECOND_NAMES
from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import Cfa


def labelled(units: Sequence[Unit], cfas: Mapping[str, Cfa]) -> Iterator[tuple[str, str]]:
    """The names of which it is not known what they stand for, with the reason.

    A label that is a library's own leaves its name what it is, as long as nothing of the program meets it: no definition under
    the label, also a static one, and no other name with the same label where one of the two is a variable, or is defined.
    """
    bearers: dict[str, set[str]] = {}
    of_libraries: dict[str, bool] = {}
    for unit in units:
        for label in unit.level.linkage.labels:
            bearers.setdefault(label.symbol, set()).add(label.name)
            of_libraries[label.symbol] = of_libraries.get(label.symbol, True) and label.is_library
    for symbol, names in bearers.items():
        under = {name for unit in units for name in _under(symbol, unit, cfas)}
        meets = len(names) > 1 and any(name in cfas or _is_variable(name, units) for name in names)
        if under or meets or not of_libraries[symbol]:
            reason = f'the assembler name "{symbol}"'
            yield from ((name, reason) for name in (*names, *under, symbol))


def second_names(units: Sequence[Unit]) -> Iterator[tuple[str, str]]:
    """The second names of variables of the library that a program may use by another name, too, with the reason."""
    declared = {one.var.name for unit in units for one in unit.level.variables.values()}
    for second, first in SECOND_NAMES.items():
        others = (first, *(name for name, of in SECOND_NAMES.items() if of == first and name != second))
        other = next((name for name in others if name in declared), None)
        if second in declared and other is not None:
            yield second, f"another name, {other}"


def _under(symbol: str, unit: Unit, cfas: Mapping[str, Cfa]) -> Iterator[str]:
    """The linkage names of what a file defines by this name, static or not, perhaps tentatively."""
    function, variable = unit.level.functions.get(symbol), unit.level.variables.get(symbol)
    if function is not None and function.linkage in cfas:
        yield function.linkage
    if variable is not None and (variable.var.name != symbol or variable.initial is not None or variable.tentative):
        yield variable.var.name


def _is_variable(name: str, units: Sequence[Unit]) -> bool:
    return any(name == one.var.name for unit in units for one in (unit.level.variables.get(name.rpartition("::")[2]),) if one)
