"""The access paths of a value after a statement: what a write leaves, what an assignment adds, what a caller gets."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.engines.automaton.facts.facts import Fact
from analysis.engines.automaton.facts.interior import into, is_into
from analysis.engines.automaton.functions.access_paths import (
    RESULT,
    Path,
    behind_pointer,
    kills,
    lvalue_cell,
    path_of,
    split_pointer,
)
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model import ir
from analysis.model.c_types import Pointer, Record
from analysis.rules.automaton import Rule


def survivors(paths: tuple[Path, ...], written: Path | None, cell: str) -> set[Path]:
    """The paths whose value a write does not change."""
    return {path for path in paths if not kills(written, cell, path)}


def stored(model: FunctionModel, fact: Fact, target: ir.Expr, value: ir.Expr) -> set[Path]:
    """The paths of a fact after an assignment."""
    written, source = path_of(target), path_of(value)
    paths = survivors(fact.paths, written, lvalue_cell(target))
    paths |= {path for path in fact.paths if written is not None and are_apart(model, written, path)}
    if source is None or written is None or not is_steady(model, written):
        return paths
    paths |= {(*written, *path[len(source) :]) for path in fact.paths if copies(path, source, target)}
    return {path for path in paths if path[0] != source[0]} if source[0].startswith("$") else paths


def are_apart(model: FunctionModel, written: Path, path: Path) -> bool:
    """Whether the member that is written is one of another object than the one that the path leads through."""
    pair = written[0], path[0]
    if len(written) != 3 or written[1:] != path[1:3] or not model.address_taken.isdisjoint(pair):
        return False
    return pair in model.assignments.below or pair[::-1] in model.assignments.below


def copies(path: Path, source: Path, target: ir.Expr) -> bool:
    """Whether assigning the value at `source` copies the value at `path` along: the same, or a member of an assigned record."""
    if path in (source, into(source)):
        return True
    return isinstance(target.type, Record) and path[: len(source)] == source


def with_result(paths: tuple[Path, ...], source: Path | None, with_parts: bool) -> set[Path]:
    """The paths with those through the result of a function that returns what is at `source`; `with_parts`: also what its result
    leads to."""
    found = set(paths)
    if source is not None:
        if with_parts and source[-1] != "&":
            found |= {(RESULT, *path[len(source) :]) for path in paths if path[: len(source)] == source}
        if source in paths:
            found.add((RESULT,))
    return found


def outlives(model: FunctionModel, path: Path, rule: Rule, state: str) -> bool:
    """Whether the path means something to the function's callers, and the state is known to them."""
    root = path[0]
    if root[0] == "<":
        return True
    if state in rule.local_states:
        return False
    if root[0] == "@":
        return True
    if root not in model.parameters or root in model.assignments.reassigned:
        return False
    if behind_pointer(path) or path[-1] == "&":
        return True
    # the parameter's own value, or a part of a structure that was passed by value: callers have it, too
    return rule.about_object and all(operation[0] in ".[" for operation in path[1:])


def is_steady(model: FunctionModel, written: Path) -> bool:
    """Whether a path to what is written can be followed: it is short, and its pointer does not point elsewhere next time."""
    return len(written) + 1 < 7 and not (behind_pointer(written) and written[0] in model.assignments.moving)


def is_beside_whole(model: FunctionModel, paths: Iterable[Path], written: Path | None) -> bool:
    """Whether what is written is a variable that only the function knows, and another one has the address of the whole object:
    `item = &items[i]`."""
    if written is None or len(written) > 1 or written[0][0] in "@<$" or written[0] in model.address_taken:
        return False
    return any(not is_into(path) and path != written for path in paths)


def parts_of(paths: Iterable[Path], whole: Path) -> list[Path]:
    """The paths that lead on from where another one leads."""
    length = len(whole)
    return [path for path in paths if len(path) > length and path[:length] == whole]


def pointed_to(argument: Path) -> Path:
    """The path of what the argument points to."""
    return argument[:-1] if argument[-1] == "&" else (*argument, "*")


def is_inside(path: Path, argument: Path) -> bool:
    """Whether the path leads to a part of the object that the argument points to."""
    pointed = pointed_to(argument)
    return path[: len(pointed)] == pointed


def changed_by(paths: set[Path], argument: Path) -> set[Path]:
    """The paths whose value a function may change that is passed the argument: those through what it points to."""
    changed = pointed_to(argument)
    return {path for path in paths if path[: len(changed)] == changed and not stands_in(path, changed)}


def elements_from(paths: set[Path], address: ir.Expr) -> set[Path]:
    """The paths through elements of an array that a function may write which is passed the address of one: `p + i` is that of
    `p[i]`, and of what comes after it."""
    start, behind = ir.strip_casts(address), 0
    if isinstance(start, ir.Binary) and start.operator == "+":
        more = ir.strip_casts(start.right)
        if isinstance(more, ir.IntConst):
            start, behind = start.left, more.value
    pointer, distance = split_pointer(start)
    while isinstance(pointer, ir.Binary) and pointer.operator in ("+", "-"):
        pointer, distance = ir.strip_casts(pointer.left), None
    base = path_of(pointer)
    if base is None or not isinstance(address.type, Pointer):
        return set()
    before = None if behind <= 0 else "*" if distance == "0" else f"*[{distance}]"
    length = len(base)
    through = {path for path in paths if len(path) > length and path[:length] == base and path[length][0] == "*"}
    return {path for path in through if path[length] != before}


def stands_in(path: Path, place: Path) -> bool:
    """Whether the path is the address of the place or of a part of it, which does not change with what is stored there."""
    return path[-1] == "&" and not any(operation[0] == "*" for operation in path[len(place) :])


def without_old_reads(paths: Iterable[Path], temporary: str) -> set[Path]:
    """The paths after a `volatile` variable was read into a temporary: without other temporaries, but for the last one before,
    which the same expression may use. (Each read makes a temporary, and a fact has few paths.)"""
    number = _number(temporary)
    return {path for path in paths if len(path) > 1 or _number(path[0]) in (0, number - 1, number)}


def _number(root: str) -> int:
    """The number of a temporary, in the order in which lowering made them; 0 for other variables."""
    return int(root[1:]) if root[0] == "$" and root[1:].isdigit() else 0
