"""Where it matters in which order the operands of an expression are evaluated, which C leaves open (C11 6.5p2-3, 6.5.2.2p10).

Two operands cannot be swapped where one may write what the other may access, where one may end the run while
the other may violate a rule, and where one may jump away while the other has any effect. Each such expression gets
an edge `Unsupported` in front of it, so that nothing is proved of a run that comes there (but by
`certificate.nonzero.open_orders` and `certificate.ownership.open_operands`), and nothing confirmed (but where
`interpreter.open_orders` sees that the order does not matter in the run). gcc evaluates arguments from right to left on most
machines; lowering goes from left to right.

What one operand accesses itself, without a call, is distinguished by its type, and a member from other members: no object of a
program is where the pointer to it is kept. This is assumed, and so is that operands come to an end
(`assumptions.ORDER`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import NamedTuple

import msgspec

from analysis.c.library_variables import STREAMS
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import Cfa
from analysis.cfa.linking.call_effects import (
    ERRNO,
    POINTER,
    WORLD,
    Cell,
    Effects,
    Own,
    WithCallees,
    cell,
    exposed_by,
    joined,
    library,
    meet,
    own,
    through_pointers,
    with_callees,
)
from analysis.cfa.linking.indeterminate import indeterminate
from analysis.cfa.linking.obstacle_words import OPEN_ORDER
from analysis.cfa.linking.overlapping import overlap
from analysis.frontend.declarations.file_level import Variable
from analysis.frontend.lowering.context import StaticLocal
from analysis.model import ir
from analysis.model.c_types import RecordDefinition
from analysis.model.spelling import display_name, spell_expr
from analysis.model.unordered import Operand, Unordered


class Conflict(NamedTuple):
    """An expression whose operands cannot be swapped: the location in front of it, and the reason."""

    location: int
    reason: str


class _Decided(NamedTuple):
    """The conflicts in a function, and the functions that its unordered operands call: what they do was asked."""

    conflicts: tuple[Conflict, ...]
    called: frozenset[str]


class _Shown(NamedTuple):
    """What units say beside the bodies of functions. `initially`: the variables whose addresses initialisers use; `named`: those
    with external linkage; `elsewhere`: those that other files define; `entered`: the functions that are called otherwise than by
    name, or may be another file's."""

    records: Mapping[str, RecordDefinition]
    ending: frozenset[str]
    initially: frozenset[str]
    named: frozenset[str]
    elsewhere: frozenset[str]
    taken: frozenset[str]
    entered: frozenset[str]


class Orders(NamedTuple):
    """What was found out about a program, for the next revision. `exposed`: the variables with static storage whose addresses are
    used at all; `anywhere`: the same, other files included. (Which of its own variables a function exposes is asked of that
    function alone.) `unordered`: the functions that have operands whose order is open. `conflicts` are by linkage name; functions
    without any are absent.
    Operands that meet without a call, through a pointer from another file, are left to `ORDER`: what they do is undefined
    (C11 6.5p2)."""

    cfas: Mapping[str, Cfa]
    shown: _Shown
    calls: WithCallees
    exposed: frozenset[str]
    has_other_files: bool
    anywhere: frozenset[str]
    unordered: Set[str]
    decided: dict[str, _Decided]
    conflicts: dict[str, tuple[Conflict, ...]]


_NONE = frozenset[str]()
NO_ORDERS = Orders({}, _Shown({}, *[_NONE] * 6), WithCallees({}, _NONE, {}), _NONE, False, _NONE, _NONE, {}, {})


def conflicts(
    units: Sequence[Unit], cfas: Mapping[str, Cfa], ending: frozenset[str], last: Orders = NO_ORDERS, *, is_alike: bool = False
) -> Orders:
    """The conflicts in the functions of a program. `ending` and `is_alike`: see `obstructions.obstructions`; `last` is the
    answer for the revision before."""
    if not any(cfa.unordered for cfa in cfas.values()):
        return NO_ORDERS
    now = _revised(units, cfas, ending, last, is_alike=is_alike)
    for name in now.unordered - now.decided.keys():
        mine = now.decided[name] = _Decided(tuple(_in_function(cfas[name], now)), _called(cfas[name]))
        if mine.conflicts:
            now.conflicts[name] = mine.conflicts
    return now


def _called(cfa: Cfa) -> frozenset[str]:
    operands = (operand for group in cfa.unordered for operand in group.operands)
    return frozenset(ir.direct_callee(call) or POINTER for operand in operands for call in operand.calls)


def _revised(units: Sequence[Unit], cfas: Mapping[str, Cfa], more: frozenset[str], last: Orders, *, is_alike: bool) -> Orders:
    """What conflicts rest on, with those of them that are known from the revision before."""
    is_alike = is_alike and last is not NO_ORDERS
    shown = last.shown if is_alike else _shown_by(units)
    changed = {name for name, cfa in cfas.items() if cfa is not last.cfas.get(name)}
    functions = _own_effects(cfas, changed, shown, last, is_alike=is_alike)
    ending = shown.ending | more
    exposed, has_other_files = last.exposed, last.has_other_files
    before = last.calls.functions
    if not is_alike or any(functions[name].exposed != before[name].exposed for name in changed):
        exposed = shown.initially.union(shown.elsewhere, *(mine.exposed for mine in functions.values()))
    if not is_alike or any(functions[name].calls != before[name].calls for name in changed):
        has_other_files = _has_other_files(functions, shown.entered)
    anywhere = exposed | shown.named if has_other_files else exposed
    calls = with_callees(functions, ending, last.calls)
    same = (exposed, anywhere, ending, shown.records) == (last.exposed, last.anywhere, last.calls.ending, last.shown.records)
    known = (last.unordered - changed) & cfas.keys()
    unordered = known.union(name for name in changed if cfas[name].unordered)
    decided = _still_decided(last, known, calls) if same else {}
    found = {name: mine for name, mine in last.conflicts.items() if name in decided}
    return Orders(cfas, shown, calls, exposed, has_other_files, anywhere, unordered, decided, found)


def _shown_by(units: Sequence[Unit]) -> _Shown:
    variables = tuple(_variables(units))
    records: dict[str, RecordDefinition] = {}
    for unit in units:
        records.update(unit.records)
    taken = frozenset[str]().union(*(unit.address_taken for unit in units))
    return _Shown(
        records=records,
        ending=_ending(units),
        initially=frozenset(_exposed_initially(variables)),
        named=frozenset(one.var.name for one in variables if "::" not in one.var.name),
        elsewhere=_defined_elsewhere(units),
        taken=taken,
        entered=taken.union(("main", POINTER), *(unit.level.linkage.yielding for unit in units)),
    )


def _own_effects(cfas: Mapping[str, Cfa], changed: Set[str], shown: _Shown, last: Orders, *, is_alike: bool) -> dict[str, Own]:
    """What each function does itself; of those that are the same as the last time, it is known."""
    others = {name: own(cfas[name]) for name in changed}
    if is_alike:
        return {**last.calls.functions, **others}
    functions = {name: others[name] if name in changed else last.calls.functions[name] for name in cfas}
    functions[POINTER] = through_pointers(functions, shown.taken)
    return functions


def _has_other_files(functions: Mapping[str, Own], entered: Set[str]) -> bool:
    """Whether code may run that is not checked: it can take the addresses of all variables that are not static (C11 6.2.2p4)."""
    outside = (done for mine in functions.values() for callee, done in mine.calls if callee not in functions)
    return "main" not in functions or _is_entered_elsewhere(functions, entered) or any(WORLD in done.writes for done in outside)


def _is_entered_elsewhere(functions: Mapping[str, Own], entered: Set[str]) -> bool:
    """Whether other files can call a function that nobody calls here: as in `cfa.open_functions`, of what units say."""
    called = {callee for name, mine in functions.items() for callee, _ in mine.calls if callee != name}
    return any("::" not in name for name in functions.keys() - called - entered)


def _ending(units: Sequence[Unit]) -> frozenset[str]:
    ending = {e.name for unit in units for e in unit.externals if e.noreturn}
    return frozenset(ending.union(*(unit.level.linkage.noreturn for unit in units)))


def _defined_elsewhere(units: Sequence[Unit]) -> frozenset[str]:
    """The variables that other files define, or the library: these know their addresses."""
    defined, declared = set(STREAMS), set[str]()
    for unit in units:
        declared.update(var.name for function in unit.functions for var in function.externs)
        for one in unit.variables:
            (declared if one.initial is None and not one.tentative else defined).add(one.var.name)
    return frozenset(declared - defined)


def _still_decided(last: Orders, names: Set[str], calls: WithCallees) -> dict[str, _Decided]:
    """The answers of before for these functions, which are the same, where their operands call only what does the same as
    before."""
    decided = dict(last.decided)
    for name in decided.keys() - names:
        del decided[name]
    if calls.moved:
        return {name: mine for name, mine in decided.items() if calls.moved.isdisjoint(mine.called)}
    return decided


def _variables(units: Sequence[Unit]) -> Iterator[Variable | StaticLocal]:
    """The variables with static storage."""
    for unit in units:
        yield from unit.variables
        for function in unit.functions:
            yield from function.statics


def _exposed_initially(variables: Iterable[Variable | StaticLocal]) -> Iterator[str]:
    for one in variables:
        yield from exposed_by((one.initial or one.var, *(part.value for part in one.parts)))


def _in_function(cfa: Cfa, known: Orders) -> Iterator[Conflict]:
    for group in cfa.unordered:
        pair = next(_conflicting(cfa, group, known), None)
        if pair is not None:
            one, other = map(_shown, pair)
            yield Conflict(group.location, f"{OPEN_ORDER} ({one} and {other})")


def _conflicting(cfa: Cfa, group: Unordered, known: Orders) -> Iterator[tuple[Operand, Operand]]:
    calls = [_calls(operand, known) for operand in group.operands]
    operands = group.operands
    own = taken_by(cfa).own
    exposed, anywhere = known.exposed | own, known.anywhere | own
    if any(one.leaves or its_calls.leaves for one, its_calls in zip(operands, calls, strict=True)):
        operands = tuple(_spoilt(operand, indeterminate(cfa, group.location)) for operand in operands)
    for (one, its_calls), (other, other_calls) in combinations(zip(operands, calls, strict=True), 2):
        if (
            _directly(one, other, exposed, known.shown.records)
            or _directly(other, one, exposed, known.shown.records)
            or _through_calls(one, its_calls, other, other_calls, anywhere)
            or _through_calls(other, other_calls, one, its_calls, anywhere)
        ):
            yield one, other


def _spoilt(operand: Operand, names: Set[str]) -> Operand:
    """The operand; it fails if it reads one of these variables, which may have no value."""
    if operand.fails or names.isdisjoint(root.name for read in operand.reads if isinstance(root := ir.root(read), ir.Var)):
        return operand
    return msgspec.structs.replace(operand, fails=True)


def _calls(operand: Operand, known: Orders) -> Effects:
    """What the calls in an operand do together."""
    parts: list[Effects] = []
    for call in operand.calls:
        name = ir.direct_callee(call) or POINTER
        parts.append(known.calls.effects[name] if name in known.calls.effects else library(name, call))
        if name in known.calls.ending:
            parts.append(Effects(leaves=True))
    return joined(parts)


def _through_calls(one: Operand, calls: Effects, other: Operand, others: Effects, exposed: Set[str]) -> bool:
    """Whether a call in one operand may write what the other accesses, or the run may end in one that the other could spoil.
    Where control jumps away, the run goes on, and all that the other does makes a difference."""
    if (one.leaves or calls.leaves) and (other.fails or others.fails):
        return True
    if one.leaves and (other.has_effects or others.leaves):
        return True
    read, written = others.reads | _cells(other.reads), others.writes | _cells(other.writes)
    if any(meet(a, b, exposed) for a in calls.writes for b in read):
        return True
    # what is in `errno` behind two library functions is nothing that anything rests on
    if any(meet(a, b, exposed) for a in calls.writes - {ERRNO} for b in written - {ERRNO}):
        return True
    return any(meet(a, b, exposed) for a in _cells(one.writes) for b in others.reads)


def _cells(lvalues: Iterable[ir.Expr]) -> frozenset[Cell]:
    return frozenset(found for lvalue in lvalues if (found := cell(lvalue)) is not None)


def _directly(one: Operand, other: Operand, exposed: Set[str], records: Mapping[str, RecordDefinition]) -> bool:
    return any(overlap(a, b, exposed, records) for a in one.writes for b in (*other.writes, *other.reads))


def _shown(operand: Operand) -> str:
    """An operand for people: its last call, or what it writes or reads."""
    if operand.calls:
        name = ir.direct_callee(operand.calls[-1])
        return f"{display_name(name)}()" if name else "a call through a pointer"
    for lvalue in (*operand.writes, *operand.reads):
        return spell_expr(lvalue)
    return "a value"
