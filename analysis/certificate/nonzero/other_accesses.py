"""Which records functions access in ways that are not followed, so that nothing is said of their members.

Objects of a record are accessed as such where each pointer to one was made as one: by taking the address of such an object, by
converting a block that an allocation has just returned, or by copying such a pointer. Only that is allowed. A record is left
out where a pointer to it is converted from or to another type (save to compare it, or for a library function that forgets it),
where pointers to it are subtracted from or added to, where functions or files declare it otherwise, and where code outside of
the program gets or gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from analysis.certificate.nonzero.data_invariants import Invariant, said_of
from analysis.certificate.nonzero.fresh_blocks import is_fresh
from analysis.certificate.nonzero.library_uses import use_of
from analysis.certificate.nonzero.overwritten import Overwritten
from analysis.certificate.nonzero.record_parts import element, held, mentioned
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import Array, Function, Integer, Pointer, Record, Type, Void
from analysis.model.comparisons import COMPARISONS

_OWN = ("local", "temporary", "parameter")


class Otherwise(NamedTuple):
    """`confused`: types of which objects may be accessed as others, so that pointers in them may lead to others, too; `bytes`:
    those that may be accessed as characters, or by functions that do not know their type; `raw`: those of which objects may be
    memory that was never set; `moved`: those to which pointers are moved, or of which blocks are subscripted; `pointed`:
    members whose address is taken; `outgrown`: what library functions may overwrite with more behind it. `copies`: it copies
    bytes from and to objects whose types are not known there."""

    confused: frozenset[Type]
    bytes: frozenset[Type]
    raw: frozenset[Type]
    moved: frozenset[Type]
    pointed: frozenset[Invariant]
    outgrown: frozenset[Type]
    copies: bool


def otherwise_in(program: Program, cfa: Cfa, fresh: Mapping[str, bool]) -> Otherwise:
    """What one function accesses otherwise. `fresh`: the functions that return new blocks."""
    looked = _Look(program, cfa, fresh)
    for edge in cfa.edges:
        looked.at(edge.effect)
    if any(not isinstance(one.effect, ir.Return) or one.effect.value is None for one in cfa.incoming.get(cfa.exit, ())):
        looked.falls_off(cfa.type.result)
    return looked.found()


def otherwise_at_start(program: Program) -> Otherwise:
    """What initialisers of variables with static storage access otherwise."""
    looked = _Look(program, None, {})
    for variable in program.globals.values():
        looked.value(variable.initial)
        for part in variable.parts:
            looked.assigned(part.target.type, part.value)
    return looked.found()


class _Look:
    def __init__(self, program: Program, cfa: Cfa | None, fresh: Mapping[str, bool]) -> None:
        self._program, self._cfa, self._fresh = program, cfa, fresh
        self._taken = frozenset[str]() if cfa is None else taken_by(cfa).own
        self._confused, self._bytes, self._raw = set[Type](), set[Type](), set[Type]()
        self._moved, self._pointed = set[Type](), set[Invariant]()
        self._outgrown = set[Type]()
        self._overwriting = Overwritten(program)
        self._copies = False

    def found(self) -> Otherwise:
        """What was found."""
        return Otherwise(
            frozenset(self._confused),
            frozenset(self._bytes),
            frozenset(self._raw),
            frozenset(self._moved),
            frozenset(self._pointed),
            frozenset(self._outgrown),
            self._copies,
        )

    def falls_off(self, result: Type) -> None:
        """The function may end without a value (C11 6.9.1p12). What is in a record that it returns is not known then."""
        if isinstance(result, Record):
            self._confuse(result)

    def at(self, effect: ir.Effect) -> None:
        """Looks at an effect."""
        match effect:
            case ir.Assign(target, value):
                self._part(target, kept=True)
                self.assigned(target.type, value)
            case ir.Assume(condition):
                self._part(condition, kept=False)
            case ir.Return(value) if value is not None and self._cfa is not None:
                self.assigned(self._cfa.type.result, value)
            case ir.Call():
                self._call(effect)

    def assigned(self, type_: Type, value: ir.Expr) -> None:
        """A value goes where a type is declared."""
        if not _is_null(value) and not isinstance(value, ir.Undefined | ir.Zero):
            self._become(value.type, type_)
        self.value(value)

    def value(self, value: ir.Expr) -> None:
        """A value goes somewhere."""
        self._part(value, kept=True)

    def _call(self, call: ir.Call) -> None:
        self._part(call.callee, kept=True)
        targets = self._program.targets(call)
        for position, argument in enumerate(call.arguments):
            use = use_of(self._program, call, position)
            self._part(argument, kept=use == "kept" or (use == "written" and not self._is_own(argument)))
            if use == "written":
                self._overwritten(call, argument)
                outgrown = self._overwriting.outgrows(call, position, argument)
                self._outgrown |= set() if outgrown is None else {outgrown}
            for target in targets:
                self._passed(target, position, argument)
        if call.result is not None:
            self._part(call.result, kept=True)
            for target in targets:
                self._returned(call, target, call.result)

    def _passed(self, target: str, position: int, argument: ir.Expr) -> None:
        cfa = self._program.functions.get(target)
        if cfa is not None and position < len(cfa.parameters):
            if not _is_null(argument):
                self._become(argument.type, cfa.parameters[position].type)
        elif cfa is not None or not self._is_forgotten(target, position):
            self._confuse(argument.type)

    def _overwritten(self, call: ir.Call, argument: ir.Expr) -> None:
        """Bytes go to an object. If there are pointers in it, they have to come from an object of the same type, or be zeros."""
        type_ = ir.strip_casts(argument).type
        if all(self._fills(target) for target in self._program.targets(call)):
            return
        others = [ir.strip_casts(other).type for other in call.arguments if other is not argument]
        if _is_raw(type_) and any(map(_is_raw, others)) and any(map(self._copies_bytes, self._program.targets(call))):
            self._copies = True
        if any(isinstance(other, Pointer) and _target(other) != _target(type_) for other in others):
            self._confuse(type_)

    def _copies_bytes(self, target: str) -> bool:
        function = self._program.known(target)
        return function is None or "copies" in function.besides

    def _fills(self, target: str) -> bool:
        function = self._program.known(target)
        return function is not None and "fills" in function.besides

    def _is_forgotten(self, target: str, position: int) -> bool:
        """Whether an external function forgets what an argument of its own type leads to; others are converted first."""
        call = ir.Call(ir.Var(target, "function", Function(Integer(32, True, "int"), ())), (), None)
        return use_of(self._program, call, position) == "forgotten"

    def _is_own(self, argument: ir.Expr) -> bool:
        """Whether an argument leads to the beginning of an object that a variable of the function is, or leads to."""
        bare = ir.strip_casts(argument)
        if isinstance(bare, ir.AddressOf):
            root = ir.root(bare.lvalue)
            bare = root.pointer if isinstance(root, ir.Deref) else root
        return isinstance(bare, ir.Var) and bare.scope in _OWN

    def _returned(self, call: ir.Call, target: str, result: ir.Expr) -> None:
        known = self._program.function_type(target)
        if target in self._program.functions and known is not None and known.result == result.type:
            return
        if not is_fresh(self._program, call, self._fresh):
            self._confuse(result.type)
            if known is not None:
                self._confuse(known.result)
        elif not self._may_be_new(result):
            self._raw.add(result.type)

    def _may_be_new(self, result: ir.Expr) -> bool:
        """Whether a new block may go there: where it is followed (`construction`), or if there are no records in it."""
        type_ = result.type.target if isinstance(result.type, Pointer) else result.type
        if not held(self._program, type_):
            return True
        is_own = isinstance(result, ir.Var) and result.scope in _OWN and result.name not in self._taken
        return is_own and not isinstance(type_, Array)

    def _part(self, expr: ir.Expr, *, kept: bool) -> None:
        """`kept`: the value goes somewhere, or leads to something; else it is compared or forgotten."""
        match expr:
            case ir.Cast(operand, type_):
                if kept and not _is_null(operand):
                    self._become(operand.type, type_)
                    self._bytes |= _around(operand) if _is_raw(type_) else set()
                self._part(operand, kept=kept)
                return
            case ir.Binary(operator, left, right) if operator in COMPARISONS or _is_distance(expr):
                self._part(left, kept=False)
                self._part(right, kept=False)
                return
            case ir.Binary("+" | "-", left, right) if isinstance(left.type, Pointer):
                if not _is_null(right):
                    self._moved.add(left.type.target)
                self._part(left, kept=kept)
                self._part(right, kept=True)
                return
            case ir.Unary("!", operand):
                self._part(operand, kept=False)
                return
        self._leaf(expr, kept=kept)
        for operand in ir.operands(expr):
            self._part(operand, kept=True)

    def _leaf(self, expr: ir.Expr, *, kept: bool) -> None:
        """Looks at one expression, without its operands."""
        match expr:
            case ir.AddressOf(lvalue):
                found = said_of(lvalue)
                if found is not None:
                    self._pointed.add(found)
            case ir.Unknown(type_):
                self._confuse(type_)
            case ir.IntConst(value, type_) if value != 0:
                self._confuse(type_)
            case ir.Var(_, scope, Array() as type_) if scope in _OWN:
                self._moved.add(type_)
            case ir.Var(name, "function", type_) if kept:
                defined = self._program.function_type(name)
                if defined is not None:
                    self._become(type_, defined)
            case ir.Var(name, "global", type_):
                declared = self._program.globals.get(name)
                if declared is None or declared.var.type != type_:
                    self._confuse(type_)
                    if declared is not None:
                        self._confuse(declared.var.type)

    def _become(self, one: Type, other: Type) -> None:
        """A value of one type becomes one of another."""
        is_same = one == other or (isinstance(one, Pointer) and isinstance(other, Pointer) and _target(one) == _target(other))
        if is_same:
            return
        if _is_raw(one) or _is_raw(other):
            self._bytes |= {type_ for type_ in (one, other) if mentioned(type_)}
        else:
            self._confuse(one)
            self._confuse(other)

    def _confuse(self, type_: Type) -> None:
        if mentioned(type_):
            self._confused.add(type_)


def _around(pointer: ir.Expr) -> set[Type]:
    """The types of the records in which an object lies whose address is taken, unless it is in an array: where only bytes are
    known of it, more than the object may be meant."""
    if not isinstance(pointer, ir.AddressOf) or isinstance(pointer.lvalue, ir.Index):
        return set()
    return {step.record.type for step in ir.steps(pointer.lvalue) if isinstance(step, ir.Field)}


def _is_raw(type_: Type) -> bool:
    """Whether a pointer is to memory of which nothing is said: to void, or to characters."""
    bare = _target(type_)
    return isinstance(bare, Void) or (isinstance(bare, Integer) and bare.bits == 8)


def _target(type_: Type) -> Type | None:
    """What a pointer leads to, arrays aside."""
    return element(type_.target) if isinstance(type_, Pointer) else None


def _is_null(expr: ir.Expr) -> bool:
    bare = ir.strip_casts(expr)
    return isinstance(bare, ir.IntConst) and bare.value == 0


def _is_distance(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Binary) and expr.operator == "-" and isinstance(expr.right.type, Pointer)
