"""What one call of an external function does, by its arguments: where it writes, and what its format says."""

from __future__ import annotations

from analysis.c.formats import NUMBERS, printed
from analysis.c.functions import Function, known
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.verifiers import is_input

_NOT_COPIED = frozenset({"n", "size", "handle", "scan", "format"})  # what an argument is for that nothing is copied from


def converts_no_pointer(text: str) -> bool:
    """Whether a format of `printf`, as it is written in the program, has no conversion of a pointer."""
    found = printed(text)
    return found is not None and all(conversion.letter in NUMBERS for conversion in found)


def is_null(argument: ir.Expr) -> bool:
    """Whether an argument is a null pointer constant."""
    inner = ir.strip_casts(argument)
    return isinstance(inner, ir.IntConst) and inner.value == 0


def literal(argument: ir.Expr) -> str | None:
    """The text of a string literal that is passed, as it is written in the program; None also for a part of one."""
    inner = ir.strip_casts(argument)
    if isinstance(inner, ir.AddressOf):
        inner = inner.lvalue
    while isinstance(inner, ir.Index) and is_null(inner.index):
        inner = inner.array
    return inner.text if isinstance(inner, ir.StringConst) else None


def stores_counts(function: Function, call: ir.Call) -> bool:
    """Whether a call of a function like `printf` may write through further arguments: its format has `%n` (C11 7.21.6.1p8), or
    is not known. Without a pointer among them nothing is written."""
    at = function.format
    if at is None:
        return False
    given = call.arguments[at + 1 :]
    if "va" not in function.arguments[-1].uses and not any(isinstance(argument.type, Pointer) for argument in given):
        return False
    text = literal(call.arguments[at]) if at < len(call.arguments) else None
    found = None if text is None else printed(text)
    return found is None or any(conversion.letter == "n" for conversion in found)


def written_arguments(name: str, call: ir.Call) -> tuple[int, ...] | None:
    """The numbers of the arguments to whose objects the call writes. None: it may write to others as well, or nothing is
    known of it. What the library keeps for itself (`errno`, what `getenv` returned) does not count. What a project says of
    functions is not looked at, nor by the other functions here that take a name: to them these are unknown."""
    return written_by(known(name), call)


def written_by(function: Function | None, call: ir.Call) -> tuple[int, ...] | None:
    """The same for a call of a function of which this is known."""
    if function is None or not function.is_complete or function.calls_code or "elsewhere" in function.besides:
        return None
    if is_input(function.name):
        return tuple(at for at, argument in enumerate(call.arguments) if _leads(argument))
    if function.positions("beneath"):
        return None
    found = {at for at in function.written if at < len(call.arguments) and not is_null(call.arguments[at])}
    if stores_counts(function, call):
        if "va" in function.arguments[-1].uses:
            return None
        found.update(at for at, argument in enumerate(call.arguments) if at > (function.format or 0) and _leads(argument))
    if function.positions("out..."):
        found.update(range(len(function.arguments) - 1, len(call.arguments)))
    return tuple(sorted(found))


def filled(call: ir.Call) -> tuple[ir.Expr, ...]:
    """The objects that a call of a library function may write to, of those whose addresses it is passed: `n` and `line` in
    `scanf("%d%s", &n, line)`. Where it is not known what it writes to, there are none."""
    name = ir.direct_callee(call)
    at = () if name is None else written_arguments(name, call) or ()
    objects = (addressed(call.arguments[position]) for position in at)
    return tuple(one for one in objects if one is not None)


def copied(call: ir.Call) -> tuple[ir.Expr, ...]:
    """The arguments of a call of a library function from which, or from what they lead to, it may make what it writes: not sizes,
    streams and formats."""
    name = ir.direct_callee(call)
    function = None if name is None else known(name)
    if name is None or function is None:
        return ()
    at = written_arguments(name, call) or ()
    others = (position for position in range(len(call.arguments)) if position not in at)
    return tuple(call.arguments[one] for one in others if function.argument(one).uses.isdisjoint(_NOT_COPIED))


def addressed(argument: ir.Expr) -> ir.Expr | None:
    """The object that an argument is the address of; an array where it is the address of the first element."""
    bare = ir.strip_casts(argument)
    if not isinstance(bare, ir.AddressOf):
        return None
    lvalue = bare.lvalue
    is_first = isinstance(lvalue, ir.Index) and isinstance(lvalue.index, ir.IntConst) and lvalue.index.value == 0
    return lvalue.array if isinstance(lvalue, ir.Index) and is_first else lvalue


def _leads(argument: ir.Expr) -> bool:
    return isinstance(argument.type, Pointer) and not is_null(argument)


def leaves_memory(name: str, call: ir.Call) -> bool:
    """Whether all memory is after the call as it was before, with these arguments."""
    function = known(name)
    return function is not None and function.only_writes and written_arguments(name, call) == ()


def leaves_values(name: str, call: ir.Call) -> bool:
    """The same, but for a block that ends: what it held may not be read any more (C11 7.22.3.3), and nothing else changes."""
    return only_frees(known(name), call)


def only_frees(function: Function | None, call: ir.Call) -> bool:
    """The same for a call of a function of which this is known."""
    return function is not None and function.only_writes_or_frees and written_by(function, call) == ()
