"""What calls of external functions do to a store (`analysis.c` says what is known of them)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.c.blocks import ALLOCATORS, STACK_ALLOCATIONS
from analysis.c.calls import leaves_values, written
from analysis.cfa.graph import Program
from analysis.cpa.stores.evaluate import Algebra, Evaluator, Work
from analysis.cpa.stores.scalar_values import Address, Value, bits_of
from analysis.cpa.stores.writing import Writer
from analysis.model import ir
from analysis.model.c_types import Array, Integer, Pointer, Type

Change = Callable[[Work], None]


def external_change(program: Program, writer: Writer, evaluator: Evaluator, name: str, call: ir.Call) -> Change:
    """What the function changes in memory; `name` is empty if it is not known which function it is."""
    if leaves_values(name, call):
        return lambda work: None
    known = program.externals.get(name)
    at = written(name, call)
    if at is not None:
        return _forget_arguments(writer, evaluator, [call.arguments[position] for position in at])
    if known is not None and known.system and not any(_leads_on(a) for a in call.arguments):
        return _forget_arguments(writer, evaluator, call.arguments)

    def forget(work: Work) -> None:
        writer.forget_reachable(work)
        work.store = work.store.without([root for root in work.store.map if root[0] == "@" and "::" not in root])

    return forget


def _leads_on(argument: ir.Expr) -> bool:
    """Whether what the argument points to can itself hold a pointer to memory of the program."""
    type_ = argument.type
    if not isinstance(type_, Pointer):
        return not isinstance(type_, Integer) and bits_of(type_, 64) is None
    inner = ir.strip_casts(argument).type
    target: Type = inner.target if isinstance(inner, Pointer) else type_.target
    while isinstance(target, Array):
        target = target.element
    return not isinstance(target, Integer) and bits_of(target, 64) != 64


def _forget_arguments(writer: Writer, evaluator: Evaluator, arguments: Sequence[ir.Expr]) -> Change:
    computed = [evaluator.value(a) for a in arguments if isinstance(a.type, Pointer)]

    def forget(work: Work) -> None:
        for compute in computed:
            value = compute(work)
            if type(value) is Address:
                writer.forget_aliases(work, value.root)
                work.store = work.store.set(value.root, None)
            elif value != 0 or type(value) is not int:
                writer.forget_reachable(work)

    return forget


def external_result(algebra: Algebra, name: str, type_: Type) -> Callable[[Work], Value]:
    """The scalar that the function returns."""
    if name in ALLOCATORS | STACK_ALLOCATIONS:
        return lambda work: algebra.allocate(work, name, type_)
    return lambda work: algebra.unknown(work, type_)
