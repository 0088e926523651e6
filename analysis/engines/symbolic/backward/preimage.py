"""What must have held before an edge for conditions to hold after it, or more: the conditions before are weaker than the weakest
precondition, never stronger.

A write through a pointer that may be to the object that a condition reads is split into both cases, if it can
be said when it is; else what is read is any value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from analysis.c.blocks import ALLOCATORS, STACK_ALLOCATIONS, ZEROING
from analysis.c.functions import known
from analysis.cfa.graph import Cfa, Edge
from analysis.cpa.effects.state_places import Tag, base_of, may_alias, onto, overlap, tags_in
from analysis.cpa.effects.writes import WholeProgram, Writes
from analysis.engines.symbolic.backward.rewriting import (
    OnAddress,
    OnRead,
    TooLargeError,
    at_depth,
    condition,
    equality,
    is_definite,
    is_symbol,
    normal,
    not_null,
    rewritten,
    same,
    symbol,
    text_of,
    with_symbols,
)
from analysis.engines.symbolic.backward.states import Conditions
from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer, Record, Type
from analysis.smt.encoding.paths.failures import Operation, operations

RESULT = "<result>"
_SPLITS = 3  # pairs of pointers that one assignment is split for
_FRESH = ALLOCATORS | STACK_ALLOCATIONS


class SplitError(Exception):
    """Two pointers may be equal; the assignment is to be split into both cases."""

    def __init__(self, pair: ir.Expr) -> None:
        super().__init__()
        self.pair = pair


class Preimage:
    """Conditions before the edges of one function, in an activation at a depth; `functions` are those of all activations, by
    depth."""

    def __init__(self, whole: WholeProgram, functions: tuple[str, ...], edge: Edge, taken: Conditions) -> None:
        self._whole = whole
        self._functions = functions
        self._depth = len(functions) - 1
        self._edge = edge
        self._names = {part.name for c in taken for part in ir.walk(c) if isinstance(part, ir.Var)}
        self._fresh: dict[ir.Expr, ir.Var] = {}

    # -- assignments --------------------------------------------------------------------------------------------

    def assigned(self, target: ir.Expr, value: ir.Expr | None, conditions: Conditions) -> Iterator[Conditions]:
        """What must hold before `target = value`, for the conditions to hold after it. `target` and `value`
        are read in the state before. `value` None: any value."""
        waiting: list[dict[ir.Expr, bool]] = [{}]
        while waiting:
            decided = waiting.pop()
            try:
                yield self._assigned(target, value, conditions, decided)
            except SplitError as split:
                waiting += [{**decided, split.pair: True}, {**decided, split.pair: False}]

    def _assigned(
        self, target: ir.Expr, value: ir.Expr | None, conditions: Conditions, decided: dict[ir.Expr, bool]
    ) -> Conditions:
        found = self.mapped(conditions, lambda read: self._after(target, value, read, decided))
        return found | {pair if truth else condition(pair, False) for pair, truth in decided.items()}

    def mapped(self, conditions: Conditions, on_read: OnRead, on_address: OnAddress = same) -> Conditions:
        """The conditions with their reads replaced; those that become too large are left out."""
        found = set()
        for c in sorted(conditions, key=text_of):
            try:
                found.add(rewritten(c, on_read, on_address))
            except TooLargeError:
                continue
        return frozenset(found)

    def _after(self, target: ir.Expr, value: ir.Expr | None, read: ir.Expr, decided: dict[ir.Expr, bool]) -> ir.Expr:
        """What is read after the assignment, in terms of the state before."""
        written_base, read_base = base_of(target), base_of(read)
        if written_base is None or read_base is None:
            return self.any(read)
        if isinstance(written_base, ir.Var) and isinstance(read_base, ir.Var):
            if written_base.name != read_base.name:
                return read
            return self._within(target, value, read, decided)
        if isinstance(written_base, ir.Var):
            if not self._whole.is_taken(written_base, self.function_of(written_base)):
                return read
            return self.any(read) if any(may_alias(tag, self._whole.tag_of(read)) for tag in self._tags(target)) else read
        tags = self._tags(target)
        if isinstance(read_base, ir.Var):
            changed = Writes(memory=frozenset(tags))
            return self.any(read) if self.can_change(changed, read) else read
        if written_base == read_base:
            return self._within(target, value, read, decided)
        if not any(may_alias(tag, self._whole.tag_of(read)) for tag in tags):
            return read
        return self._through(target, value, read, written_base.pointer, read_base.pointer, decided)

    def _tags(self, target: ir.Expr) -> Collection[Tag]:
        """What an assignment says about the objects that it writes to."""
        is_one = not _is_aggregate(target.type)
        return [self._whole.tag_of(target)] if is_one else tags_in(target.type, self._whole.program.records)

    def _through(
        self, target: ir.Expr, value: ir.Expr | None, read: ir.Expr, one: ir.Expr, other: ir.Expr, decided: dict[ir.Expr, bool]
    ) -> ir.Expr:
        """The same, where both are behind pointers that may be equal."""
        kind, _ = overlap(ir.steps(target), ir.steps(read))
        alike = isinstance(one.type, Pointer) and one.type == other.type and kind in ("same", "never")
        if not alike or _is_aggregate(target.type):
            return self.any(read)
        if kind == "never":
            return read  # objects of one type lie over each other in whole or not at all (C11 6.3.2.3p7)
        pair = equality(one, other)
        if isinstance(pair, ir.IntConst):
            return read if pair.value == 0 else self._within(target, value, read, decided)
        if pair not in decided:
            if len(decided) >= _SPLITS:
                return self.any(read)
            raise SplitError(pair)
        return self._within(target, value, read, decided) if decided[pair] else read

    def _within(self, target: ir.Expr, value: ir.Expr | None, read: ir.Expr, decided: dict[ir.Expr, bool]) -> ir.Expr:
        """The same, where both are parts of one object."""
        written, steps = ir.steps(target), ir.steps(read)
        kind, pairs = overlap(written, steps)
        if kind == "never":
            return read
        if kind == "maybe" or value is None:
            return self.any(read)
        for one, other in zip(pairs[::2], pairs[1::2], strict=True):
            pair = equality(one, other)
            if isinstance(pair, ir.IntConst):
                if pair.value == 0:
                    return read
                continue
            if pair not in decided:
                if len(decided) >= _SPLITS:
                    return self.any(read)
                raise SplitError(pair)
            if not decided[pair]:
                return read
        if kind == "same":
            return value if value.type == read.type and not self._is_bit_field(read) else self.any(read)
        if isinstance(value, ir.Zero):
            return _zero(read) or self.any(read)
        if isinstance(value, ir.LVALUES):
            return onto(value, steps[len(written) :])
        return self.any(read)

    def _is_bit_field(self, read: ir.Expr) -> bool:
        """Whether what is read is narrower than its type, so that it need not be what was assigned."""
        if not isinstance(read, ir.Field) or not isinstance(read.record.type, Record):
            return False
        definition = self._whole.program.records.get(read.record.type.key)
        return definition is None or all(m.name != read.name or m.bits is not None for m in definition.members)

    # -- calls --------------------------------------------------------------------------------------------------

    def changed(self, writes: Writes, conditions: Conditions) -> Conditions:
        """Before something that can give what it writes any values."""
        return self.mapped(conditions, lambda read: self.any(read) if self.can_change(writes, read) else read)

    def can_change(self, writes: Writes, read: ir.Expr) -> bool:
        """Whether what is read can be among what is written."""
        base = base_of(read)
        if not isinstance(base, ir.Var) or base.scope == "global":
            return self._whole.changes(writes, read, "", None)
        depth, name = place_of(base)
        return self._whole.changes(writes, read, self._functions[depth], name if depth == self._depth else None)

    def function_of(self, base: ir.Var) -> str:
        """The function that a variable is of."""
        return "" if base.scope == "global" else self._functions[place_of(base)[0]]

    def external(self, name: str, call: ir.Call, conditions: Conditions) -> Iterator[Conditions]:
        """Before a call of an external function."""
        target = None if call.result is None else self.own(call.result)
        writes = self._whole.external(name, call)
        for value in self._results(name, call):
            given = [conditions] if target is None else list(self.assigned(target, value, conditions))
            for found in given:
                before = self.changed(writes, self._new_object(name, value, found))
                yield before | {not_null(value)} if _is_never_null(name) and value is not None else before

    def _results(self, name: str, call: ir.Call) -> Iterator[ir.Expr | None]:
        """What the function returns, by cases; None: anything."""
        type_ = None if call.result is None else call.result.type
        if isinstance(type_, Pointer) and name in _FRESH:
            yield ir.IntConst(0, type_)
            yield self.symbol("new", type_, address=True)
        elif type_ is not None and (first := _returned(name, call)) is not None and first.type == type_:
            yield self.own(first)
        elif isinstance(type_, Pointer) and _is_never_null(name):
            yield self.symbol("result", type_)
        else:
            yield None

    def _new_object(self, name: str, value: ir.Expr | None, conditions: Conditions) -> Conditions:
        """Before an allocation nothing was in its object; after it, what was allocated so holds zeros, or any values."""
        if value is None or not is_symbol(value) or not isinstance(value, ir.Var) or value.name[0] != "!":
            return conditions

        def on_read(read: ir.Expr) -> ir.Expr:
            base = base_of(read)
            if not isinstance(base, ir.Deref) or value not in ir.walk(base.pointer):
                return read
            zero = _zero(read) if name in ZEROING else None
            return zero or self.any(read)

        return self.mapped(conditions, on_read)

    # -- values -------------------------------------------------------------------------------------------------

    def own(self, expr: ir.Expr, depth: int | None = None) -> ir.Expr:
        """An expression of the edge, in an activation at a depth (default: this one), as conditions have it. TooLargeError if
        that is too much."""
        implied = with_symbols(expr, lambda type_: self.symbol("any", type_))
        return normal(at_depth(implied, self._depth if depth is None else depth))

    def implied(self, test: ir.Expr, truth: bool) -> ir.Expr:
        """What a branch implies. TooLargeError if that is too much."""
        return condition(self.own(test), truth)

    # -- values that are not known ------------------------------------------------------------------------------

    def any(self, read: ir.Expr) -> ir.Expr:
        """A symbol for what is read: the same one each time at this edge."""
        found = self._fresh.get(read)
        if found is None:
            found = self._fresh[read] = self.symbol(text_of(read), read.type)
        return found

    def symbol(self, what: str, type_: Type, *, address: bool = False) -> ir.Var:
        """A symbol that no condition has, named after the edge and what it is."""
        name = f"{self._functions[-1]}:{self._edge.id}:{what}"
        while (found := symbol(name, type_, address=address)).name in self._names:
            name += "'"
        self._names.add(found.name)
        return found


def place_of(variable: ir.Var) -> tuple[int, str]:
    """The depth of a local variable's activation, and its name in its function."""
    depth, bar, name = variable.name.partition("|")
    return (int(depth), name) if bar else (0, variable.name)


def dereferenced(effect: ir.Effect, depth: int) -> Iterable[ir.Expr]:
    """The pointers that cannot be null after the effect, because it accesses what they point to. Those that
    only say where a call's result is stored are left out."""
    if isinstance(effect, ir.Call):
        effect = ir.Call(effect.callee, effect.arguments, None)
    found: dict[ir.Expr, None] = {}
    for operation in operations(effect):
        pointer = _through_pointer(operation)
        if pointer is not None:
            found.setdefault(at_depth(pointer, depth))
    return found


def _through_pointer(operation: Operation) -> ir.Expr | None:
    base = base_of(operation.expr) if operation.role != "value" else None
    if not isinstance(base, ir.Deref):
        return None
    pointer = base.pointer
    while isinstance(pointer, ir.Binary) and isinstance(pointer.left.type, Pointer):
        pointer = pointer.left
    return pointer if isinstance(pointer.type, Pointer) else None


def nonnull(effect: ir.Effect, depth: int) -> Conditions:
    """The condition that these pointers are not null."""
    found = set()
    for pointer in dereferenced(effect, depth):
        if not is_definite(pointer):
            continue
        try:
            found.add(not_null(normal(pointer)))
        except TooLargeError:
            continue
    return frozenset(c for c in found if not isinstance(c, ir.IntConst))


def parameters(cfa: Cfa, call: ir.Call, depth: int, preimage: Preimage) -> dict[str, ir.Expr]:
    """What the parameters of a function are when a caller at a depth enters it; those that are passed nothing are not there."""
    found = {}
    for parameter, argument in zip(cfa.parameters, call.arguments, strict=False):
        try:
            converted = argument if argument.type == parameter.type else _cast(argument, parameter.type)
            found[parameter.name] = preimage.own(converted, depth)
        except TooLargeError:
            continue
    return found


def _cast(argument: ir.Expr, type_: Type) -> ir.Expr:
    return argument if _is_aggregate(type_) else ir.Cast(argument, type_)


def _is_aggregate(type_: Type) -> bool:
    return not isinstance(type_, Integer | Floating | Pointer)


def _zero(read: ir.Expr) -> ir.Expr | None:
    return ir.IntConst(0, read.type) if isinstance(read.type, Integer | Pointer) else None


def _returned(name: str, call: ir.Call) -> ir.Expr | None:
    """The argument that the function returns, whatever it is passed; None if there is none."""
    function = known(name)
    if function is None or function.result != "argument" or function.null or function.of >= len(call.arguments):
        return None
    return call.arguments[function.of]


def _is_never_null(name: str) -> bool:
    """Whether the function returns a pointer to an object of the library's, which is never null."""
    function = known(name)
    return function is not None and function.result in ("outside", "static") and not function.null
