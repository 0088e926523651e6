"""What functions return that only look at strings and bytes (C11 7.24.4, 7.24.5, 7.24.6.3), where a path says what these hold.

Comparisons are followed byte by byte, also of bytes that the path does not know. Searches are done where all bytes are known.
All else is left open. So is what is behind the end of an object: whether the function may read so far is another question
(`library_failures`).
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c.functions import LIBRARY
from analysis.c.text_searches import CHARACTER_SEARCHES, SEARCHES
from analysis.model import ir
from analysis.model.c_types import INT, Integer, Pointer, Type, Void
from analysis.smt.encoding.paths.path_state import State
from analysis.smt.encoding.storage.content import ANY_TAG
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, TRUE, and_, constant_of, eq, not_, or_
from analysis.smt.logic.terms import Term

_BYTE = Integer(8, False, "unsigned char")
_LONGEST = 1024  # bytes of a string that are looked at
_MOST_OPEN = 16  # pairs of bytes, neither of which is known, that are compared
_OF_STRINGS = frozenset(("strcmp", "strncmp"))
_OF_BYTES = frozenset(("memcmp",))
_PREFIX = "__builtin_"


def known_text(state: State, pointer: Term) -> bytes | None:
    """The string that a pointer leads to, without the zero at its end; None if it is not known, or does not end in its object."""
    found = bytearray()
    for byte in _bytes(state, pointer):
        value = constant_of(byte)
        if value is None:
            return None
        if value == 0:
            return bytes(found)
        found.append(int(value))
    return None


def text_result(state: State, call: ir.Call, name: str) -> tuple[Term, Type] | None:
    """What a call returns, with its type; None if nothing is known of it. What is known of a value that is left open is among
    the constraints of the state."""
    bare = name.removeprefix(_PREFIX)
    function = LIBRARY.get(name)
    if function is None or call.result is None or len(call.arguments) != len(function.arguments):
        return None
    if not all(isinstance(call.arguments[at].type, Pointer) for at in function.positions("in", "text")):
        return None
    if bare in _OF_STRINGS | _OF_BYTES:
        return _compared(state, call, bare), INT
    at = _found(state, call, bare)
    if at is None:
        return None
    if function.result == "number":
        return state.arithmetic.constant(at, state.size_type), state.size_type
    offset = state.memory.fills.offset
    return offset(0) if at < 0 else linear.add(_value(state, call, 0), offset(at)), Pointer(Void())


def _found(state: State, call: ir.Call, name: str) -> int | None:
    """The number that a function returns, or where in its first argument it finds something: -1 for nothing."""
    if name not in SEARCHES and name not in CHARACTER_SEARCHES and name != "strlen":
        return None
    text = known_text(state, _value(state, call, 0))
    if text is None:
        return None
    if name == "strlen":
        return len(text)
    if name in SEARCHES:
        other = known_text(state, _value(state, call, 1))
        return None if other is None else SEARCHES[name](text, other)
    given = call.arguments[1].type
    if not isinstance(given, Integer):
        return None
    wanted = constant_of(state.arithmetic.convert(_value(state, call, 1), given, _BYTE))
    return None if wanted is None else CHARACTER_SEARCHES[name](text + b"\0", int(wanted))


def _compared(state: State, call: ir.Call, name: str) -> Term:
    """The result of a comparison: any number of the sign that the first difference says (C11 7.24.4p1)."""
    arithmetic = state.arithmetic
    result, zero = state.fresh_input(INT, "result", f"{name}()"), arithmetic.constant(0, INT)
    is_sized = len(call.arguments) > 2
    most = constant_of(_size(state, call)) if is_sized else _LONGEST
    if most is None:
        return result
    goes_on, is_open, compared = TRUE, 0, 0
    one_side, other_side = (_bytes(state, _value(state, call, at)) for at in (0, 1))
    for _, one, other in zip(range(int(most)), one_side, other_side, strict=False):
        is_open += constant_of(one) is None and constant_of(other) is None
        if is_open > _MOST_OPEN:
            return result
        for operator in ("<", ">"):
            differs = and_(goes_on, arithmetic.compare(operator, one, other, _BYTE))
            state.ledger.constrain(or_(not_(differs), arithmetic.compare(operator, result, zero, INT)))
        goes_on = and_(goes_on, eq(one, other))
        if name in _OF_STRINGS:
            is_end = eq(other, arithmetic.constant(0, _BYTE))
            state.ledger.constrain(or_(not_(and_(goes_on, is_end)), eq(result, zero)))
            goes_on = and_(goes_on, not_(is_end))
        compared += 1
        if goes_on is FALSE:
            return result
    if is_sized and compared == most:
        state.ledger.constrain(or_(not_(goes_on), eq(result, zero)))
    return result


def _bytes(state: State, pointer: Term) -> Iterator[Term]:
    """The bytes from where a pointer leads to, as far as the object is known and goes, at most `_LONGEST` of them."""
    factors, constant = linear.parts(pointer)
    if factors or state.memory.addresses.region(constant) is None:
        return
    spot = state.memory.resolve_case(TRUE, pointer, ANY_TAG)[0][1]
    region = state.memory.regions[spot.region]
    if region.size is None or region.kind == "function" or spot.bits < 0 or state.memory.alive(spot.region) is not TRUE:
        return
    start = spot.bits // 8
    for at in range(start, min(region.size, start + _LONGEST)):
        yield state.memory.load(((TRUE, spot._replace(bits=8 * at)),), 8, _BYTE, ANY_TAG)


def _value(state: State, call: ir.Call, position: int) -> Term:
    return state.places.expressions.value(call.arguments[position])


def _size(state: State, call: ir.Call) -> Term:
    return state.arithmetic.convert(_value(state, call, 2), call.arguments[2].type, state.size_type)
