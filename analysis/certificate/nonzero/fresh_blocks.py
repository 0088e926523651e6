"""Functions of the program that return new blocks of memory, to which nothing else leads: `malloc` by another name.

Such a function returns null, or what an allocation returned to a variable of its own, which it does nothing with but test it,
write to the block, and pass it to library functions that forget it.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.certificate.nonzero.library_uses import use_of
from analysis.certificate.nonzero.record_parts import mentioned
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with


@kept_with
def fresh_blocks(program: Program) -> Mapping[str, bool]:
    """The functions that return new blocks."""
    found: dict[str, bool] = {}
    waiting = [name for name, cfa in program.functions.items() if _may_be_one(cfa)]
    grown = True
    while grown:
        grown = False
        for name in waiting:
            if name not in found and _Returned(program, program.functions[name], found).are_new():
                found[name] = grown = True
    return found


def is_fresh(program: Program, call: ir.Call, fresh: Mapping[str, bool]) -> bool:
    """Whether the result of a call is null or a new block, to which nothing else leads."""
    name = ir.direct_callee(call)
    if name is None:
        return False
    if name in program.functions:
        return name in fresh
    function = program.known(name)
    return function is not None and function.is_complete and function.gives_block


def _may_be_one(cfa: Cfa) -> bool:
    result = cfa.type.result
    return isinstance(result, Pointer) and not mentioned(result) and not cfa.unsupported


class _Returned:
    """What one function returns."""

    def __init__(self, program: Program, cfa: Cfa, fresh: Mapping[str, bool]) -> None:
        self._program, self._cfa, self._fresh = program, cfa, fresh
        self._blocks = frozenset[ir.Var]()

    def are_new(self) -> bool:
        """Whether it is a new block, or null, and some block at all."""
        values = [edge.effect.value for edge in self._cfa.edges if isinstance(edge.effect, ir.Return)]
        bare = [ir.strip_casts(value) for value in values if value is not None and not _is_null(value)]
        taken = taken_by(self._cfa).own
        self._blocks = frozenset(one for one in bare if isinstance(one, ir.Var) and one.scope in ("local", "temporary"))
        if None in values or not bare:  # it may end without a value
            return False
        if any(one not in self._blocks or one.name in taken for one in bare if isinstance(one, ir.Var)):
            return False
        return all(isinstance(one, ir.Var) for one in bare) and all(self._leaves(edge.effect) for edge in self._cfa.edges)

    def _leaves(self, effect: ir.Effect) -> bool:
        """Whether an edge leaves the blocks new."""
        match effect:
            case ir.Return():
                return True
            case ir.Assume(condition):
                return self._is_apart(condition, kept=False)
            case ir.Assign(target, value):
                is_set = target not in self._blocks or _is_null(value) or isinstance(value, ir.Undefined)
                return is_set and self._is_apart(value, kept=True) and (target in self._blocks or self._is_place(target))
            case ir.Call(callee, arguments, result):
                if result in self._blocks and not is_fresh(self._program, effect, self._fresh):
                    return False
                uses = [use_of(self._program, effect, position) for position in range(len(arguments))]
                kept = all(self._is_apart(one, kept=use == "kept") for one, use in zip(arguments, uses, strict=True))
                return kept and self._is_apart(callee, kept=True) and (result is None or self._is_place(result))
            case _:
                return False

    def _is_place(self, lvalue: ir.Expr) -> bool:
        return all(self._is_apart(part, kept=False) for part in ir.place_values(lvalue))

    def _is_apart(self, expr: ir.Expr, *, kept: bool) -> bool:
        """Whether a value lets nothing else lead to the blocks. `kept`: it goes somewhere."""
        match expr:
            case ir.Var():
                return not kept or expr not in self._blocks
            case ir.Deref() | ir.Field() | ir.Index():
                return self._is_place(expr)
            case ir.Cast(operand):
                return self._is_apart(operand, kept=kept)
            case ir.Binary(operator, left, right):
                is_kept = kept and operator not in COMPARISONS
                return self._is_apart(left, kept=is_kept) and self._is_apart(right, kept=is_kept)
            case ir.Unary("!", operand):
                return self._is_apart(operand, kept=False)
            case ir.AddressOf(lvalue):
                root = ir.root(lvalue)
                leads = isinstance(root, ir.Deref) and not self._is_apart(root.pointer, kept=kept)
                return not leads and self._is_place(lvalue)
            case _:
                return all(self._is_apart(operand, kept=kept) for operand in ir.operands(expr))


def _is_null(expr: ir.Expr) -> bool:
    bare = ir.strip_casts(expr)
    return isinstance(bare, ir.IntConst) and bare.value == 0
