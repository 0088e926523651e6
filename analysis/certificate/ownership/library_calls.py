"""Calls of functions that the program does not define, by the rows of `analysis.c.functions` or contracts of the project. Where
a row does not say all that a function does, it may keep the blocks that it is passed, and lose others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.c.blocks import RESIZES
from analysis.c.calls import is_null, literal, written_by
from analysis.c.control import UNMODELLED
from analysis.c.functions import LIBRARY, Function
from analysis.certificate.ownership.block_changes import allocate, end, give_away
from analysis.certificate.ownership.expression_values import (
    AFTER_FREE,
    access,
    is_character,
    is_local,
    moved,
    overwritten,
)
from analysis.certificate.ownership.memory_state import KEPT, NULL, OTHER, Memory
from analysis.certificate.ownership.obligations import FREES, LEAKS, RULES, USES, Condition
from analysis.certificate.ownership.open_descriptors import opens_descriptors
from analysis.certificate.ownership.step import Step
from analysis.model import ir
from analysis.model.c_types import Array, Pointer
from analysis.model.spelling import spell_expr

Ends = Iterator[tuple[Memory, str]]
"""The ways in which a call can end: the state then, and the result."""
_ACCESSES = frozenset(
    ("in", "copied", "text", "out", "inout", "link", "beneath", "format", "scan", "lock", "va", "...", "out...")
)
_CLOSERS = {"fclose": "stream", "pclose": "stream", "endmntent": "stream", "closedir": "directory"}
_KINDS = {"block": "heap", "stream": "stream", "directory": "directory"}


def call_library(step: Step, call: ir.Call, name: str, given: Sequence[str]) -> Ends:
    """The ends of a call of an external function with these arguments."""
    function = step.program.known(name)
    if name in UNMODELLED:
        step.found.broken = f"{name}() is called, whose effects are not known, at {step.place}"
        return
    if function is None or not function.is_complete or function.calls_code:
        yield from call_unknown(step, call, given, f"{name}() is called, of which not all is known,")
        return
    if name in RESIZES:
        yield from _resize(step, call, function, given)
        return
    for number, found in enumerate(given):
        _use(step, call, function, number, found)
    _lose(step, call, name, function, given)
    if function.never_returns:
        return
    yield from _results(step, function, given)


def call_unknown(step: Step, call: ir.Call, given: Sequence[str], why: str, condition: Condition | None = None) -> Ends:
    """The end of a call of something that is not followed. `condition`: under which no block comes from there, or is lost."""
    step.end_others()
    if condition is None:
        step.leave(why)
    else:
        step.refuse_unless(LEAKS, why, condition)
    for number, found in enumerate(given):
        argument = call.arguments[number]
        if isinstance(argument.type, Pointer):
            access(step, found, argument, USES)
            if condition is not None and step.memory.current(found) == OTHER:  # as where a function that ends it is named
                ended = (
                    f"`{spell_expr(ir.strip_casts(argument))}` is passed to what is called through a pointer, and may be freed"
                )
                step.found.refuse_unless(FREES, f"{ended}, at {step.place}", Condition("never ends", argument))
        give_away(step, found, "is passed to what is not followed")
    yield step.memory, OTHER


def _use(step: Step, call: ir.Call, function: Function, number: int, found: str) -> None:
    """What the function does with one argument."""
    uses, argument = function.argument(number).uses, call.arguments[number]
    name = f"`{spell_expr(ir.strip_casts(argument))}`"
    if "freed" in uses:
        end(step, found, "heap", name, argument)
    elif "closed" in uses and "n" not in uses:
        kind = _CLOSERS.get(function.name) if function.name in LIBRARY else "stream"  # contracts speak of streams only
        if kind is not None:
            end(step, found, kind, name, argument)
        else:
            step.end_others()
            step.refuse(RULES, f"{function.name}() closes what is not followed")
    elif isinstance(argument.type, Pointer):
        if "handle" in uses:
            access(step, found, argument, USES)
        elif uses & _ACCESSES:
            access(step, found, argument, AFTER_FREE)
    if not uses.isdisjoint(("beneath", "va")) or "elsewhere" in function.besides:
        step.refuse(AFTER_FREE, f"{function.name}() accesses more than what it is passed itself,")
    is_returned = function.result == "any" and call.result is not None and isinstance(call.result.type, Pointer)
    if "kept" in uses or _may_go_on(call, function) or is_returned:
        give_away(step, found, f"is passed to {function.name}(), which may keep it")


def _may_go_on(call: ir.Call, function: Function) -> bool:
    """Whether pointers that the function is passed may be elsewhere after the call."""
    links = (call.arguments[at] for at in function.positions("link", "beneath") if at < len(call.arguments))
    allocates = "allocates" in function.besides and not _only_numbers(call, function)
    return allocates or "elsewhere" in function.besides or not all(map(is_null, links))


def _lose(step: Step, call: ir.Call, name: str, function: Function, given: Sequence[str]) -> None:
    """What can be lost by the call."""
    if "allocates" in function.besides and not _only_numbers(call, function):
        step.refuse(LEAKS, f"{name}() may allocate what is not followed")
    if not function.besides.isdisjoint(("frees", "elsewhere")) or function.positions("scan"):
        step.end_others()  # `%p` makes a pointer of what is read
    if "frees" in function.besides:
        step.refuse(FREES | LEAKS, f"{name}() may free what is not followed")
    if function.result == "descriptor" or "opens" in function.besides:
        step.refuse(("resource-leak",), f"{name}() opens a descriptor, and these are not followed,")
    changed = written_by(function, call)
    if changed is None and _only_counts(function):  # by `%n`, into a number (C11 7.21.6.1p8)
        changed = tuple(at for at in function.written if at < len(call.arguments) and not is_null(call.arguments[at]))
        step.refuse(("resource-leak",) if opens_descriptors(step.program) else (), f"{name}() may write numbers by its format")
    elif changed is None:
        step.refuse(LEAKS, f"{name}() writes to what is not known")
    for number in changed or ():
        bare = ir.strip_casts(call.arguments[number])
        if isinstance(bare.type, Pointer):
            _overwrite(step, bare, given[number], f"{name}() writes to `{spell_expr(bare)}`")
        elif not is_null(bare):
            step.refuse(LEAKS, f"{name}() writes to `{spell_expr(bare)}`, which is a number")


def _only_counts(function: Function) -> bool:
    """Whether it is only for its format that it is not known where a function writes, which it does complete."""
    is_open = not function.is_complete or function.calls_code or "elsewhere" in function.besides or function.positions("beneath")
    return function.format is not None and not is_open


def _only_numbers(call: ir.Call, function: Function) -> bool:
    """Whether a call of `scanf` or one of its like allocates nothing, by its format."""
    at = next(iter(function.positions("scan")), None)
    text = literal(call.arguments[at]) if at is not None and at < len(call.arguments) else None
    return text is not None and not any(part in text.replace("\\n", "") for part in ("m", "\\", "??"))


def _overwrite(step: Step, pointer: ir.Expr, found: str, what: str) -> None:
    if not isinstance(pointer.type, Pointer) or is_local(pointer):
        return
    held, lvalue = pointer.type.target, ir.Deref(pointer, pointer.type.target)
    if isinstance(pointer, ir.AddressOf):
        held = ir.root(pointer.lvalue).type  # the function may write to all of the object
    overwritten(step, found, lvalue, held, what, is_text=is_character(held.element if isinstance(held, Array) else held))


def _results(step: Step, function: Function, given: Sequence[str]) -> Ends:
    kind = _KINDS.get(function.result)
    if kind is not None:
        if function.null:
            yield step.memory.copy(), NULL
        made = step.forked()
        yield made.memory, allocate(made, kind)
        return
    passed = step.memory.current(given[function.of]) if function.of < len(given) else OTHER
    match function.result:
        case "argument":
            found = passed
        case "into":
            found = moved(passed)
        case "outside" if function.name in LIBRARY:
            found = KEPT
        case _:
            found = OTHER
    if found == OTHER and (function.result != "number" and (function.result != "into" or _keeps(function))):
        step.end_others()  # the result may lead to what was freed since an earlier call left it with the library
    if function.null and found != OTHER:
        yield step.memory.copy(), NULL
    yield step.memory, found


def _keeps(function: Function) -> bool:
    """Whether it may know what an earlier call was passed, as `strtok` does."""
    return bool(function.besides) or any("kept" in argument.uses for argument in function.arguments)


def _resize(step: Step, call: ir.Call, function: Function, given: Sequence[str]) -> Ends:
    """`realloc`: the block is ended where there is a new one, and stays where there is none. Of size zero it may be ended, too,
    though null is returned (C11 7.22.3.5p4 as C17 has it)."""
    name = f"`{spell_expr(ir.strip_casts(call.arguments[0]))}`" if call.arguments else ""
    if not given or not function.arguments[0].uses >= {"freed"}:
        yield from call_unknown(step, call, given, f"{function.name}() is called, and it is not clear with what,")
        return
    yield step.memory.copy(), NULL
    for is_new in (True, False):
        after = step.forked()
        if is_new or not _is_positive(call, function):
            end(after, given[0], "heap", name, call.arguments[0])
            yield after.memory, allocate(after, "heap") if is_new else NULL


def _is_positive(call: ir.Call, function: Function) -> bool:
    """Whether a block of a size is asked for that is not zero."""
    sizes = [ir.strip_casts(call.arguments[at]) for at in function.sizes if at < len(call.arguments)]
    return bool(sizes) and all(isinstance(size, ir.IntConst) and size.value > 0 for size in sizes)
