"""When a call of a library function fails by what it does with its arguments: the bytes that it reads and writes must be there
(C11 7.1.4, 7.24.1p2). Of functions whose accesses depend on what strings hold, it is only said that they may fail."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

from analysis.c.blocks import ALLOCATIONS, RELEASES
from analysis.c.calls import is_null, stores_counts
from analysis.c.control import FAILED_ASSERTIONS
from analysis.c.functions import Function, known
from analysis.c.library_variables import STREAMS
from analysis.c.passed_objects import conversion_of, fits_format, is_enough, is_literal, scalar_variable
from analysis.cfa.addresses_taken import taken_by, taken_by_initialisers
from analysis.cfa.graph import Edge, Program
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.smt.encoding.numbers.formula import FailureKind
from analysis.smt.encoding.paths.failures import is_undefined, is_variable, outside
from analysis.smt.encoding.paths.path_state import State
from analysis.smt.encoding.paths.text_results import known_text
from analysis.smt.encoding.storage.content import ANY_TAG
from analysis.smt.logic.term_building import FALSE, and_, constant_of, eq, not_, or_
from analysis.smt.logic.terms import Term

_OF_MEMORY = frozenset(("null-dereference", "array-bounds", "use-after-free", "use-after-scope", "uninitialized-read"))
_POINTERS = (
    "in",
    "copied",
    "text",
    "out",
    "inout",
    "link",
    "handle",
    "freed",
    "closed",
    "lock",
    "kept",
    "format",
    "scan",
    "va",
    "...",
)
_READ = frozenset(("in", "inout", "text", "format", "scan", "lock", "va", "..."))
_OPEN_STREAMS: weakref.WeakKeyDictionary[Program, frozenset[str]] = weakref.WeakKeyDictionary()


def library_failure(state: State, edge: Edge, kind: FailureKind) -> Term:
    """The condition that the function which an edge calls is passed pointers to fewer bytes than it accesses,
    as far as formulas say it. What that needs is among the constraints of the state, which is changed."""
    name = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
    if name is None or name in state.program.functions or kind not in _OF_MEMORY:
        return FALSE
    return or_(*_failures(state, edge.effect, _sized(name), kind)) if isinstance(edge.effect, ir.Call) else FALSE


def _sized(name: str) -> tuple[tuple[int, int], ...]:
    """The arguments that point to bytes, each with the argument that says how many, if that is all that the function accesses."""
    function = known(name)
    if function is None or not function.is_complete:
        return ()
    pointers = function.positions(*_POINTERS)
    found = tuple((at, size) for at in pointers if (size := function.arguments[at].size) is not None)
    return found if len(found) == len(pointers) else ()


def _failures(state: State, call: ir.Call, accesses: tuple[tuple[int, int], ...], kind: FailureKind) -> Iterator[Term]:
    for pointer_at, size_at in accesses:
        if max(pointer_at, size_at) >= len(call.arguments):
            continue
        size = _size_of(state, call.arguments[size_at])
        if constant_of(size) == 0:
            continue
        pointer = state.places.expressions.value(call.arguments[pointer_at])
        zero = state.memory.fills.offset(0)
        if kind == "null-dereference":
            yield and_(eq(pointer, zero), not_(eq(size, zero)))
            continue
        for condition, spot in state.memory.resolve(pointer, ANY_TAG):
            if kind in ("use-after-free", "use-after-scope") and is_variable(state, spot) == (kind == "use-after-scope"):
                yield and_(condition, not_(state.memory.alive(spot.region)), not_(eq(size, zero)))
            elif kind == "array-bounds":
                yield and_(condition, outside(state, spot, size), not_(eq(size, zero)))


def accesses_unknown(state: State, edge: Edge) -> bool:
    """Whether the edge passes a library function, with a number of bytes, a pointer to an object of which the size is not known,
    or to one outside of the program: no formula says whether so many bytes are there."""
    call = edge.effect
    name = ir.direct_callee(call) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or name is None or name in state.program.functions:
        return False
    for pointer_at, size_at in _sized(name):
        other = state.fork()
        if max(pointer_at, size_at) >= len(call.arguments) or constant_of(_size_of(other, call.arguments[size_at])) == 0:
            continue
        pointer = other.places.expressions.value(call.arguments[pointer_at])
        spots = other.memory.resolve(pointer, ANY_TAG)
        if any(spot.region == 0 or other.memory.size(spot.region) is None for _, spot in spots):
            return True
    return False


def _size_of(state: State, argument: ir.Expr) -> Term:
    """A number of bytes that is passed."""
    return state.arithmetic.convert(state.places.expressions.value(argument), argument.type, state.size_type)


def may_fail_inside(state: State, edge: Edge, kind: FailureKind) -> bool:
    """See PathEncoder.may_fail_inside."""
    effect, program = edge.effect, state.program
    if kind not in _OF_MEMORY or not isinstance(effect, ir.Call):
        return False
    outside = [name for name in program.targets(effect) if name not in program.functions]
    if not all(fits_format(name, effect) for name in outside):
        return True
    return any(_may_fail(state, name, effect, kind) and not _reads_strings(state, name, effect, kind) for name in outside)


def _reads_strings(state: State, name: str, call: ir.Call, kind: FailureKind) -> bool:
    """Whether the function only reads strings, and all that it is passed are strings in full."""
    function = known(name)
    if function is None or not function.is_complete or stores_counts(function, call):
        return False
    pointers = [(at, argument) for at, argument in enumerate(call.arguments) if _is_open(state, name, call, at, kind)]
    if not all(_is_text(function, call, at) for at, _ in pointers):
        return False
    other = state.fork()
    return all(known_text(other, other.places.expressions.value(argument)) is not None for _, argument in pointers)


def _is_text(function: Function, call: ir.Call, position: int) -> bool:
    """Whether an argument is read up to a zero byte, at most: a string, a format of `printf`, or what such a format prints as
    one (not as a wide one, C11 7.21.6.1p8)."""
    if "text" in function.argument(position).uses or position == function.format:
        return True
    conversion = conversion_of(function, call, position)
    return conversion is not None and function.format is not None and conversion.letter != "n" and not conversion.is_wide


def _may_fail(state: State, name: str, call: ir.Call, kind: FailureKind) -> bool:
    function = known(name)
    if (
        ir.direct_callee(call) is not None
        and _sized(name)
        and (kind != "uninitialized-read" or not (function and function.positions("in", "inout")))
    ):
        return False
    if name in RELEASES or name in ALLOCATIONS or name in FAILED_ASSERTIONS:
        return False
    external = state.program.externals.get(name)
    is_system = function is not None or name.startswith("__builtin_") or (external is not None and external.system)
    if not is_system and kind != "null-dereference":
        return False  # what a function does that nobody knows is not the program's
    open_ = [at for at in range(len(call.arguments)) if _is_open(state, name, call, at, kind)]
    return any(not _may_be_any(function, at, call.arguments[at], kind) for at in open_)


def _may_be_any(function: Function | None, position: int, argument: ir.Expr, kind: FailureKind) -> bool:
    """Whether the function accepts a null pointer there, and nothing else can be wrong."""
    if function is None or not function.accepts_null(position):
        return False
    return kind == "null-dereference" or is_null(argument) or "handle" in function.argument(position).uses


def _is_open(state: State, name: str, call: ir.Call, position: int, kind: FailureKind) -> bool:
    """Whether an argument is a pointer that could lead to what is not there, or was never set: not a stream, nor a literal or a
    scalar variable of which the function accesses no more than there is."""
    argument = call.arguments[position]
    inner = ir.strip_casts(argument)
    if isinstance(inner, ir.Var) and isinstance(inner.type, Pointer):
        return inner.scope != "global" or inner.name not in _streams(state.program)
    variable = scalar_variable(argument)
    if not is_literal(argument) and variable is None:
        return isinstance(argument.type, Pointer) and not (kind == "null-dereference" and known(name) and _is_never_null(inner))
    if kind == "array-bounds":
        return not is_enough(name, call, position, state.model)
    return kind == "uninitialized-read" and variable is not None and _reads_undefined(state, known(name), position, variable)


def _is_never_null(argument: ir.Expr) -> bool:
    """Whether an argument is the address of a variable, or of a part of one."""
    return isinstance(argument, ir.AddressOf) and isinstance(ir.root(argument.lvalue), ir.Var)


def _reads_undefined(state: State, function: Function | None, position: int, variable: ir.Var) -> bool:
    """Whether a function may look at a value of a variable that was never set."""
    if function is not None and function.argument(position).uses.isdisjoint(_READ):
        return False
    other = state.fork()
    return is_undefined(other, other.places.read(variable)) is not FALSE


def _streams(program: Program) -> frozenset[str]:
    """The streams of the library that a program has and leaves as they are (C11 7.21.1p3): it neither defines variables of these
    names, nor writes to them or takes their addresses."""
    found = _OPEN_STREAMS.get(program)
    if found is None:
        defined = program.globals.keys() - {name for name in program.globals if _is_elsewhere(program, name)}
        found = _OPEN_STREAMS[program] = STREAMS - defined - _changed(program)
    return found


def _is_elsewhere(program: Program, name: str) -> bool:
    variable = program.globals[name]
    return isinstance(variable.initial, ir.Unknown) and not variable.parts


def _changed(program: Program) -> frozenset[str]:
    """Those of the streams that the program may write to."""
    targets = [ir.target_of(edge.effect) for cfa in program.functions.values() for edge in cfa.edges]
    written = {target.name for target in targets if isinstance(target, ir.Var) and target.scope == "global"}
    pointed = taken_by_initialisers(program.globals.values()).union(*(taken_by(cfa).static for cfa in program.functions.values()))
    return STREAMS & (pointed | written)
