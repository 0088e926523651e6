"""The assumptions of every proof about a program. Where the order of evaluation could matter, nothing is proved
(`cfa.linking.open_order`), but by `certificate.nonzero.open_orders` and `certificate.ownership.open_operands`. That check assumes
`ORDER`, which is reported if the program has unordered side effects."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c import control
from analysis.c.translation_time import is_of_translation
from analysis.cfa.callgraph import called
from analysis.cfa.graph import Cfa, Global, Program
from analysis.cfa.linking.library_names import taken_for_library
from analysis.cfa.linking.project_contracts import relied_on
from analysis.cfa.linking.union_rests import kept_behind_members
from analysis.cfa.linking.used_in_threads import called_in_one_thread
from analysis.model import ir
from analysis.model.assumptions import BEFORE, ORDER, TRANSLATION_TIME, UNREACHABLE
from analysis.model.kept_with import kept_with


@kept_with
def assumptions_of(program: Program) -> tuple[str, ...]:
    """Returns the assumptions of every proof about the program, as sentences."""
    is_open = any(cfa.unordered for cfa in program.functions.values())
    order = (ORDER.sentence,) if is_open else ()
    comes = any(map(_says_unreachable, program.functions.values()))
    unreachable = (UNREACHABLE.sentence,) if comes else ()
    time = (TRANSLATION_TIME.sentence,) if _says_when(program) else ()
    listed = *taken_for_library(program), *relied_on(program), *called_in_one_thread(program), *kept_behind_members(program)
    return (BEFORE.sentence, *order, *unreachable, *time, *listed)


def _says_when(program: Program) -> bool:
    """Whether a function, or the initial value of a variable, may hold when the program was translated."""
    return any(map(_names_time, program.functions.values())) or any(map(_begins_with_time, program.globals.values()))


@kept_with
def _begins_with_time(variable: Global) -> bool:
    return any(is_time(part) for value in initial_values(variable) for part in ir.walk(value))


def initial_values(variable: Global) -> Iterator[ir.Expr]:
    """The values with which a variable starts, of the whole and of its parts."""
    yield variable.initial
    yield from (one.value for one in variable.parts)


@kept_with
def _names_time(cfa: Cfa) -> bool:
    return any(is_time(part) for edge in cfa.edges for expr in ir.expressions(edge.effect) for part in ir.walk(expr))


def is_time(expr: ir.Expr) -> bool:
    """Whether an expression is a literal that may hold when the program was translated."""
    return isinstance(expr, ir.StringConst) and is_of_translation(expr.text)


def _says_unreachable(cfa: Cfa) -> bool:
    named, _ = called(cfa)
    return control.UNREACHABLE in named
