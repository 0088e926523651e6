"""Calls that are not followed: known library functions, and what others may have done."""

from __future__ import annotations

from analysis.c.blocks import ALLOCATIONS, OWN_BLOCKS, RELEASES, RESIZES, STACK_ALLOCATIONS
from analysis.c.calls import leaves_memory
from analysis.c.control import NEVER_RETURN
from analysis.c.functions import LIBRARY, all_with, known
from analysis.model import ir
from analysis.model.bit_counts import bit_count
from analysis.model.c_types import INT, Integer, Pointer, Record, Type, Void
from analysis.model.verifiers import is_assumption
from analysis.smt.encoding.numbers.bit_count_terms import counted
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.paths.path_state import State
from analysis.smt.encoding.paths.text_results import text_result
from analysis.smt.encoding.storage.content import ANY_TAG
from analysis.smt.encoding.storage.regions import Alternatives
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import extend, multiply, operation
from analysis.smt.logic.term_building import FALSE, TRUE, and_, constant_of, eq, ite, not_, or_
from analysis.smt.logic.terms import Term

_MOST_COPIED = 1 << 16  # bytes of a copy that is followed
_CHAR = Integer(8, False, "unsigned char")
_COPIES = all_with(lambda function: "copies" in function.besides)
_FILLS = all_with(lambda function: "fills" in function.besides)
WRITERS = _COPIES | _FILLS
"""The functions of which it is followed what they write."""
_ABSOLUTE = all_with(lambda function: "absolute" in function.besides)


class Calls:
    """Takes calls that have no body to go into; what they do to the state of a path."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._memory = state.memory

    def take(self, call: ir.Call, name: str | None, is_defined: bool, found: bool | None = None) -> None:
        """A call of the function `name` (None: one that a pointer designates). `found`: of an allocation, whether it finds
        memory; None: either."""
        if name is None or is_defined:
            self._anything_written(call, name, True)
            self._return_anything(call, name or "a called pointer")
            return
        if name in ALLOCATIONS:
            self._allocate(call, name, found)
        elif name in RELEASES:
            self._free(self._argument(call, 0))
        elif name in _COPIES and len(call.arguments) >= 3:
            self._copy(call, LIBRARY[name].result == "into")
        elif name in _FILLS and len(call.arguments) >= 3:
            self._set(call)
        elif is_assumption(name) and call.arguments:
            self._state.ledger.constrain(self._state.places.expressions.truth(call.arguments[0]))
        elif name in _ABSOLUTE and call.arguments:
            self._absolute(call)
        elif call.arguments and self._counts_bits(name):
            self._count_bits(call, name)
        else:
            self._other(call, name)

    def _other(self, call: ir.Call, name: str) -> None:
        """A function of which no more is followed than what it returns."""
        result = text_result(self._state, call, name)
        if result is not None:
            self._give(call, *result)
            return
        external = self._state.program.externals.get(name)
        if name in NEVER_RETURN or (external is not None and external.noreturn):
            self._state.ledger.constrain(FALSE)
        elif not leaves_memory(name, call):
            self._anything_written(call, name, False)
        elif self._may_give_argument(name):
            self._memory.expose(self._state.handed_over(call.arguments))
        self._return_anything(call, name)

    @staticmethod
    def _may_give_argument(name: str) -> bool:
        """Whether the function may return a pointer to what it is passed: that has to be known to be reachable from outside."""
        function = known(name)
        return function is None or function.result in ("argument", "into", "any")

    # -- values -------------------------------------------------------------------------------------------------

    def _argument(self, call: ir.Call, position: int) -> Term:
        return self._state.places.expressions.value(call.arguments[position])

    def _bytes(self, call: ir.Call, position: int) -> Term:
        """An argument of type `size_t`, as wide as a pointer."""
        term = self._argument(call, position)
        type_ = call.arguments[position].type
        return self._state.arithmetic.convert(term, type_, self._state.size_type)

    def _give(self, call: ir.Call, value: Term, type_: Type) -> None:
        """Assigns what the call returns."""
        if call.result is None:
            return
        target = call.result.type
        if isinstance(target, Pointer) != isinstance(type_, Pointer) or target != type_:
            value = self._state.arithmetic.convert(value, type_, target) if not isinstance(target, Pointer) else value
        self._state.assign(call.result, value)

    def _return_anything(self, call: ir.Call, name: str) -> None:
        if call.result is None or isinstance(call.result.type, Void):
            return
        if not isinstance(call.result.type, Integer | Pointer) and not hasattr(call.result.type, "bits"):
            self._state.fill(call.result, "unknown")
            return
        value = self._state.fresh_input(call.result.type, "result", f"{name}()")
        if name in OWN_BLOCKS:
            self._memory.given_outside.append(value)
        self._state.assign(call.result, value)

    def _absolute(self, call: ir.Call) -> None:
        value, type_ = self._argument(call, 0), call.arguments[0].type
        arithmetic = self._state.arithmetic
        negative = arithmetic.compare("<", value, arithmetic.constant(0, type_), type_)
        self._give(call, ite(negative, arithmetic.unary("-", value, type_), value), type_)

    def _counts_bits(self, name: str) -> bool:
        return isinstance(self._state.arithmetic, Bits) and bit_count(name, self._state.model) is not None

    def _count_bits(self, call: ir.Call, name: str) -> None:
        """The count, and any value where it is undefined."""
        count = bit_count(name, self._state.model)
        if call.result is None or count is None:
            return
        argument, type_ = self._argument(call, 0), Integer(count.bits, False, "counted")
        value = self._state.arithmetic.convert(argument, call.arguments[0].type, type_)
        given = self._state.fresh_input(INT, "result", f"{name}()")
        self._give(call, counted(value, count, given), INT)

    # -- allocation ---------------------------------------------------------------------------------------------

    def _allocate(self, call: ir.Call, name: str, chosen: bool | None) -> None:
        size, fits = self._requested(call, name)
        known = constant_of(size)
        is_stack = name in STACK_ALLOCATIONS
        memory, state = self._memory, self._state
        most = memory.addresses.reserved(None)
        fits = and_(fits, state.arithmetic.compare("<=", size, memory.fills.offset(most), state.size_type))
        number = memory.new_region(
            f"{name}()",
            "stack" if is_stack else "heap",
            None,
            known if known is not None and known <= most else None,
            "zero" if "zeroed" in LIBRARY[name].besides else "undefined",
            size,
        )
        address = memory.address(number)
        if fits is not TRUE:
            state.ledger.assume(f"allocations of more than {most} bytes fail")
        if is_stack:
            state.ledger.constrain(fits)
            self._give(call, address, Pointer(Void()))
            return
        found = self._outcome(name, fits, chosen)
        memory.allocate(number, found)
        if name in RESIZES:
            self._reallocate(self._argument(call, 0), number, or_(found, self._frees(size)))
        self._give(call, ite(found, address, memory.fills.offset(0)), Pointer(Void()))

    def _outcome(self, name: str, fits: Term, chosen: bool | None) -> Term:
        """The condition that an allocation finds memory; a constant where that is chosen."""
        found = self._state.allocation(name)
        if chosen is None:
            return and_(found, fits)
        self._state.ledger.constrain(and_(found, fits) if chosen else not_(found))
        return TRUE if chosen else FALSE

    def _requested(self, call: ir.Call, name: str) -> tuple[Term, Term]:
        """How many bytes are asked for, and that this is what the product of the arguments is."""
        sizes = LIBRARY[name].sizes
        if len(call.arguments) <= sizes[-1]:
            return self._state.fresh_input(self._state.size_type, "unknown", "the size of an allocation"), TRUE
        size = self._bytes(call, sizes[0])
        if len(sizes) == 1:
            return size, TRUE
        other = self._bytes(call, sizes[1])
        if not isinstance(self._state.arithmetic, Bits):
            return multiply(size, other), TRUE
        wide = 2 * size.sort.width
        exact = operation("bvmul", extend(size, wide, signed=False), extend(other, wide, signed=False))
        product = operation("bvmul", size, other)
        return product, eq(exact, extend(product, wide, signed=False))

    def _frees(self, size: Term) -> Term:
        """The condition that a block ends though there is none instead of it: of size 0, as the library has it (C11 7.22.3p1,
        7.22.3.5; glibc ends it)."""
        is_empty = eq(size, self._memory.fills.offset(0))
        if is_empty is FALSE or constant_of(size) not in (None, 0):
            return FALSE
        choice = self._state.fresh_input(INT, "unknown", "whether realloc() of size 0 frees")
        return and_(is_empty, self._state.arithmetic.compare("!=", choice, self._state.arithmetic.constant(0, INT), INT))

    def _reallocate(self, old: Term, number: int, ends: Term) -> None:
        """The new block starts with what the old one held; the old one ends where `ends` holds (C11 7.22.3.5)."""
        memory = self._memory
        new: Alternatives = ((TRUE, memory.spot_at(number)),)
        cases = [(c, t) for c, t in memory.cases(old) if constant_of(t) != 0]
        if not cases:
            return
        spots = [spot for condition, term in cases for spot in memory.resolve_case(condition, term, ANY_TAG)]
        if len(spots) == 1 and spots[0][1].symbolic is None and spots[0][1].region:
            source = spots[0][1].region
            memory.copy_object(source, number)
            memory.kill(source, and_(ends, spots[0][0]))
            return
        self._state.ledger.approximate("what a block holds after realloc() is not followed")
        memory.fill(new, None, "unknown")
        self._end(old, ends)

    def _free(self, pointer: Term) -> None:
        self._end(pointer, TRUE)

    def _end(self, pointer: Term, when: Term) -> None:
        for condition, term in self._memory.cases(pointer):
            if constant_of(term) == 0:
                continue
            for inner, spot in self._memory.resolve_case(condition, term, ANY_TAG):
                at_start = TRUE
                if spot.symbolic is not None:
                    at_start = eq(spot.symbolic, self._memory.fills.offset(-spot.bits // 8))
                if spot.region:
                    self._memory.kill(spot.region, and_(when, inner, at_start))
                else:
                    self._memory.freed_outside.append((and_(when, inner), term))

    # -- copies -------------------------------------------------------------------------------------------------

    def _copy(self, call: ir.Call, is_end: bool) -> None:
        target, source = (self._argument(call, position) for position in (0, 1))
        size = self._bytes(call, 2)
        known = constant_of(size)
        if known != 0:
            element = _pointed(call.arguments[0]) or _pointed(call.arguments[1])
            self._state.copy_memory(
                self._memory.resolve(target, ANY_TAG), self._memory.resolve(source, ANY_TAG), known, element, _MOST_COPIED
            )
        self._give(call, linear.add(target, size) if is_end else target, Pointer(Void()))

    def _set(self, call: ir.Call) -> None:
        target, value, size = self._argument(call, 0), self._argument(call, 1), constant_of(self._bytes(call, 2))
        if size != 0:
            byte = self._state.arithmetic.convert(value, call.arguments[1].type, _CHAR)
            spots = self._memory.resolve(target, ANY_TAG)
            if size is None or size > _MOST_COPIED:
                self._state.ledger.approximate("what memset() writes is not followed where its size is unknown")
                self._memory.fill(spots, size, "unknown")
            elif constant_of(byte) == 0 and len(spots) == 1 and spots[0][1].symbolic is None and spots[0][1].region:
                self._memory.fill(spots, size, "zero")
            else:
                self._state.set_bytes(spots, byte, size)
        self._give(call, target, Pointer(Void()))

    # -- unknown functions --------------------------------------------------------------------------------------

    def _anything_written(self, call: ir.Call, name: str | None, has_body: bool) -> None:
        terms = self._state.handed_over(call.arguments)
        reached = self._memory.expose(terms)
        if has_body:
            self._state.ledger.approximate(f"the call of {name or 'a pointer'} is not followed")
            reached |= self._state.forget_globals()
            reached |= self._memory.escaped
        else:
            self._state.ledger.assume(f"{name}() is external: it may return anything, and writes only what its arguments reach")
        function = None if has_body or name is None else known(name)
        is_passed_before = function is not None and "elsewhere" in function.besides
        has_list = any(frame.cfa.type.variadic for frame in self._state.frames)  # a `va_list` leads to what was passed
        if is_passed_before or has_list:
            reached |= self._memory.escaped
        is_static = function is not None and function.result == "static"  # what it returned before
        holds = any(isinstance(argument.type, Record) for argument in call.arguments)  # perhaps pointers from outside
        if has_body or is_static or holds or self._memory.points_outside([*terms, *self._memory.held(reached)]):
            reached.add(0)
        for number in sorted(reached):
            if self._memory.regions[number].kind not in ("function", "string"):
                self._memory.refill(number, "unknown")


def _pointed(argument: ir.Expr) -> Type | None:
    """The type of the object that a `void *` argument was converted from a pointer to."""
    bare = ir.strip_casts(argument)
    target = bare.type.target if isinstance(bare.type, Pointer) else None
    return None if isinstance(target, Void) else target
