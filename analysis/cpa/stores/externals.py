"""What calls of external functions do to a store (`analysis.c` says what is known of them)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.c.blocks import ALLOCATORS, STACK_ALLOCATIONS
from analysis.c.calls import leaves_values, written_arguments
from analysis.cpa.stores.evaluate import Algebra, Evaluator, Work
from analysis.cpa.stores.scalar_values import Address, Value
from analysis.cpa.stores.writing import Writer
from analysis.model import ir
from analysis.model.c_types import Pointer, Type

Change = Callable[[Work], None]


def external_change(writer: Writer, evaluator: Evaluator, name: str, call: ir.Call) -> Change:
    """What the function changes in memory; `name` is empty if it is not known which function it is."""
    if leaves_values(name, call):
        return lambda work: None
    at = written_arguments(name, call)
    if at is not None:
        return _forget_arguments(writer, evaluator, [call.arguments[position] for position in at])

    def forget(work: Work) -> None:
        writer.forget_reachable(work)
        work.store = work.store.without([root for root in work.store.map if root[0] == "@" and "::" not in root])

    return forget


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
