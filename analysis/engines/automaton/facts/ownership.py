"""Who may own a value after a statement: for rules that report what nobody frees or closes.

A value that somebody else may own from then on is not tracked any further: who gets it looks after it.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from analysis.c.functions import Function
from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.facts.facts import Fact
from analysis.engines.automaton.facts.interior import into, points_into
from analysis.engines.automaton.facts.moved_paths import parts_of
from analysis.engines.automaton.functions.access_paths import INSIDE, Path, behind_pointer, path_of, split_pointer
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, Record
from analysis.rules.automaton import Rule
from analysis.rules.library_names import arguments_of_kind

_BELOW = {"<": True, "<=": True, ">": False, ">=": False}
"""The operators of order, and whether the left operand is the lower one where they hold."""


def takes_over(program: Program, call: ir.Call, rule: Rule) -> bool:
    """Whether an external function may keep what it is passed: all but those of the system's headers, and some of
    these; and those of which a contract of the project says that they do not."""
    for target in program.targets(call):
        external = program.externals.get(target)
        contract = None if external is None else external.believed
        if contract is not None and keeps_nothing(contract):
            continue
        if contract is not None and contract.keeps:
            return True
        if external is None or not external.system or target in rule.keeps:
            return True
    return not program.targets(call)


def keeps_nothing(function: Function) -> bool:
    """Whether all is known of a function, and no pointer that it is passed is elsewhere after the call, or in its result, but the
    first one."""
    is_open = not function.is_complete or function.calls_code or bool(function.keeps or function.positions("link", "beneath"))
    gives_other = function.result == "any" or (function.result in ("argument", "into") and function.of > 0)
    return not (is_open or gives_other or "elsewhere" in function.besides)


def is_about(program: Program, rule: Rule, target: str) -> bool:
    """Whether a contract of the project makes an external function one that the rule is about."""
    external = program.externals.get(target)
    contract = None if external is None else external.believed
    return contract is not None and any(arguments_of_kind(contract, kind) is not None for kind in rule.kinds.values())


def copies_bytes(program: Program, call: ir.Call, position: int) -> bool:
    """Whether the call copies the bytes of the object that it is passed there, as `memcpy` does."""
    functions = (program.believed(target) for target in program.targets(call))
    return any(one is not None and position in one.positions("copied") for one in functions)


def may_end(program: Program, call: ir.Call) -> bool:
    """Whether the call may end, by what is known of the library, an object that it is passed."""
    functions = (program.believed(target) for target in program.targets(call))
    return any(one is not None and (one.frees or bool(one.positions("closed"))) for one in functions)


class HandedBack(NamedTuple):
    """The result of a library function that is passed an owned value: `operations` lead from where the value is to the result's
    path (none: it is the value itself). `can_be_null`: it need not be."""

    operations: Path
    can_be_null: bool


def handed_back(call: ir.Call, paths: tuple[Path, ...], program: Program) -> HandedBack | None:
    """Whether the result of a call, if it is used and not null, is the value that the paths hold, or points into the object."""
    function = program.known(ir.direct_callee(call) or "")
    if call.result is None or function is None:
        return None
    for position in _returned(function):
        if position < len(call.arguments):
            argument = call.arguments[position]
            is_whole = path_of(argument) in paths
            if is_whole or points_into(argument, paths):
                is_it = function.result == "argument" or "allocates" in function.besides
                return HandedBack(() if is_whole and is_it else (INSIDE,), bool(function.null))
    return None


def _returned(function: Function) -> tuple[int, ...]:
    """The arguments that the result of a library function may be, or point into. Where its row says only that it returns a
    pointer, these are the objects that it writes: `realpath(name, buffer)` returns `buffer`, unless that is null."""
    if function.result in ("argument", "into"):
        return (function.of,)
    return function.positions("out", "inout") if function.result == "any" else ()


def is_shared(effect: ir.Assume, paths: tuple[Path, ...]) -> bool:
    """Whether the branch implies that the value equals another variable's, which then holds it too; or the address of an object
    with a name, which nobody has to free (`if (buffer != small) free(buffer);`); or that it is a pointer made of a number other
    than 0, as `(char *)-1` that stands for something else than an object."""
    if is_within_object(effect, paths):
        return True
    equality = effect.condition
    if not isinstance(equality, ir.Binary) or equality.operator != ("==" if effect.truth else "!="):
        return False
    left, right = ir.strip_casts(equality.left), ir.strip_casts(equality.right)
    return any(
        path_of(one) in paths and (_is_no_block(one, other) or (isinstance(other, ir.LVALUES) and path_of(other) not in paths))
        for one, other in ((left, right), (right, left))
    )


def is_within_object(effect: ir.Assume, paths: tuple[Path, ...]) -> bool:
    """Whether the branch implies that the value lies before the end of an object with a name: nobody asks that of a block, so the
    value is a part of that object (`if (x >= pool && x < pool + SIZE) return;`)."""
    order = effect.condition
    if not isinstance(order, ir.Binary) or order.operator not in _BELOW:
        return False
    below = _BELOW[order.operator] if effect.truth else not _BELOW[order.operator]
    low, high = (order.left, order.right) if below else (order.right, order.left)
    end = split_pointer(high)[0]
    return path_of(low) in paths and isinstance(end, ir.AddressOf) and isinstance(ir.root(end.lvalue), ir.Var)


def _is_no_block(pointer: ir.Expr, other: ir.Expr) -> bool:
    """Whether a pointer that equals `other` leads to no block that somebody has to free, or stream to close."""
    if isinstance(other, ir.AddressOf | ir.StringConst):
        return True
    bare = other.operand if isinstance(other, ir.Unary) and other.operator == "-" else other
    return isinstance(pointer.type, Pointer) and isinstance(bare, ir.IntConst) and bare.value != 0


def is_handed_out(value: ir.Expr, paths: tuple[Path, ...]) -> bool:
    """Whether an object that holds a value is returned, or what arithmetic makes of the value."""
    source = path_of(value)
    if source is None:
        return mentions(value, paths) or is_renumbered(value, paths)
    return any(path != into(source) for path in parts_of(paths, source))


def is_new_holder(model: FunctionModel, fact: Fact, value: ir.Expr) -> bool:
    """Whether what is returned is a structure that holds the tracked value in a member, or points to one that the function has
    made."""
    source = path_of(value)
    if source is not None and isinstance(value.type, Record):
        is_here = not behind_pointer(source) and not source[0].startswith("@")  # and ends with the function
        return is_here and not any(map(behind_pointer, (path[len(source) - 1 :] for path in parts_of(fact.paths, source))))
    if source is None or len(source) > 1 or source[0][0] in "@$<" or source[0] in model.parameters:
        return False
    is_direct = all(len(path) == 3 and path[1] == "*" and path[2][0] == "." for path in parts_of(fact.paths, source))
    return is_direct and ir.strip_casts(value).type == value.type and model.is_fresh(source[0], fact.rule)


def is_read_after(model: FunctionModel, edge: Edge, paths: Set[Path]) -> bool:
    """Whether the function reads one of these paths after an edge that ends the object that they lead through: then it uses what
    has ended, but it does not forget what that held."""
    holders = {path[0] for path in paths}
    reached, work = {edge.target}, [edge.target]
    while work:
        for after in model.cfa.outgoing.get(work.pop(), ()):
            if any(path_of(part) in paths for part in model.cfa.parts[after.id] if isinstance(part, ir.LVALUES)):
                return True
            target = ir.target_of(after.effect)
            if target is not None and path_of(target) in {(holder,) for holder in holders}:
                continue  # it leads to another object from then on
            if after.target not in reached:
                reached.add(after.target)
                work.append(after.target)
    return False


def mentions(value: ir.Expr, paths: tuple[Path, ...]) -> bool:
    """Whether a pointer or record value is computed from the tracked one, other than by following it."""
    bare = ir.strip_casts(value)
    if isinstance(bare, ir.Binary):
        if bare.operator not in ("+", "-") or not isinstance(bare.type, Pointer):
            return False
        return mentions(bare.left, paths) or path_of(bare.left) in paths or points_into(bare, paths)
    return False


def is_renumbered(value: ir.Expr, paths: tuple[Path, ...]) -> bool:
    """Whether a value is a descriptor plus or minus something: one from which that can be computed again."""
    bare = ir.strip_casts(value)
    is_sum = isinstance(bare, ir.Binary) and bare.operator in ("+", "-") and isinstance(bare.type, Integer)
    return isinstance(bare, ir.Binary) and is_sum and not {path_of(bare.left), path_of(bare.right)}.isdisjoint(paths)


def gets_holder(source: Path, paths: tuple[Path, ...]) -> bool:
    """Whether what holds a value gets another holder where what is at `source` is assigned: a pointer to the object, the address
    of the place where the value is, or of a part of an object behind a pointer that the value is in."""
    if any(behind_pointer(path[len(source) - 1 :]) for path in parts_of(paths, source)):
        return True
    place = source[:-1]
    return source[-1] == "&" and (place in paths or (behind_pointer(place) and bool(parts_of(paths, place))))


def goes_away(fact: Fact, written: Path | None, value: ir.Expr, paths: set[Path]) -> bool:
    """Whether an owned value is no more a matter of the fact, which has these paths after an assignment."""
    if mentions(value, fact.paths) and not gained_by(paths, fact):
        return True  # it goes somewhere by arithmetic or inside an aggregate
    if (written is None or len(written) > 1 or written[0].startswith("@")) and is_renumbered(value, fact.paths):
        return True  # `set->slot = 1 + socket(...)`; a variable with such a number is most often a bound
    return loses_holder(fact, written, paths)


def loses_holder(fact: Fact, written: Path | None, paths: Set[Path]) -> bool:
    """Whether an owned value has no path left because the variable is written through which it was reached: what becomes of the
    object that holds it is a matter of its own."""
    return not paths and written is not None and written not in fact.paths and any(map(behind_pointer, fact.paths))


def gained_by(paths: set[Path], fact: Fact) -> bool:
    """Whether the value has a path that it did not have before."""
    return bool(paths.difference(fact.paths))


def escapes(model: FunctionModel, written: Path) -> bool:
    """Whether storing an owned value at the path gives it to somebody else: all but variables of the function's own and what
    these point to directly (an object in the making, or the caller's variable)."""
    root = written[0]
    if root[0] == "@":
        return True
    return sum(1 for op in written if op[0] == "*") > 1
