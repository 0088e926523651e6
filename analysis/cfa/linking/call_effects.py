"""What calls read and write, closed over all that they call: enough to tell whether two of them can be swapped.

`analysis.c.functions` says what library functions do; all others may do anything to whatever they can reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal, NamedTuple

import msgspec

from analysis.c.blocks import RELEASES
from analysis.c.calls import written_arguments
from analysis.c.control import NEVER_RETURN
from analysis.c.failing import can_fail
from analysis.c.functions import Function, known
from analysis.c.library_variables import STREAMS
from analysis.cfa.addresses_taken import taken_by, taken_in
from analysis.cfa.components import stay, strongly_connected
from analysis.cfa.graph import Cfa, Edge
from analysis.cfa.linking.indeterminate import indeterminate
from analysis.model import ir
from analysis.model.c_types import Function as FunctionType
from analysis.model.c_types import Integer, Pointer, Record, Type, Void
from analysis.model.compatible import is_compatible
from analysis.model.kept_with import kept_with
from analysis.model.unordered import read_by
from analysis.model.verifiers import CHECKS, is_assumption

_HANDLES = frozenset(("stream", "directory", "descriptor"))
POINTER = ""
"""The name of whatever is called through a pointer."""


class Cell(NamedTuple):
    """What can be accessed: a variable, a member of a record anywhere, an object of a type anywhere, all memory that pointers
    lead to, or what a function that is not known can reach. `text` is where the library keeps texts that it returns, and
    `library` all that it keeps for itself, and what it was given to keep."""

    kind: Literal["global", "local", "member", "object", "memory", "text", "library", "world"]
    name: str = ""
    type: Type = Void()


MEMORY, WORLD, ERRNO = Cell("memory"), Cell("world"), Cell("global", "errno")
_TEXT, _LIBRARY = Cell("text"), Cell("library")
Cells = frozenset[Cell]
_NONE: Cells = frozenset()


class Effects(msgspec.Struct, frozen=True):
    """What a call does: the cells that it reads and writes, whether it could violate a rule, at once or when the run ends
    (`fails`), and whether it may end the run or jump out (`leaves`)."""

    reads: Cells = _NONE
    writes: Cells = _NONE
    fails: bool = False
    leaves: bool = False


_NOTHING = Effects()
_UNKNOWN = Effects(frozenset((WORLD,)), frozenset((WORLD,)), fails=True, leaves=True)
_OUTSIDE = Effects(frozenset((WORLD,)), frozenset((WORLD,)), fails=True)


class Own(msgspec.Struct, frozen=True):
    """What a function does itself, whom it calls, with what that does if it has no body, and the variables with static storage
    whose addresses it uses."""

    effects: Effects
    calls: tuple[tuple[str, Effects], ...]
    exposed: frozenset[str]


def cell(lvalue: ir.Expr) -> Cell | None:
    """The cell of an lvalue; None for a temporary, which only the one expression knows."""
    root = ir.root(lvalue)
    if isinstance(root, ir.Var):
        if root.scope == "global":
            return Cell("global", root.name)
        return None if root.scope in ("temporary", "function") else Cell("local", root.name)
    part: ir.Expr = lvalue
    if isinstance(lvalue.type, Record):
        return MEMORY
    while isinstance(part, ir.Index):
        part = part.array
    wholes = [step.record if isinstance(step, ir.Field) else step.array for step in ir.steps(part)]
    if any(isinstance(whole.type, Record) and whole.type.kind == "union" for whole in wholes):
        return MEMORY
    if isinstance(part, ir.Field) and isinstance(part.record.type, Record):
        return Cell("member", f"{part.record.type.key}.{part.name}", lvalue.type)
    return Cell("object", "", lvalue.type)


def meet(one: Cell, other: Cell, exposed: Iterable[str]) -> bool:
    """Whether two cells may have a byte in common; `exposed` are the variables whose addresses are used somewhere."""
    for a, b in ((one, other), (other, one)):
        if a.kind in ("text", "library") and b.kind != "world":
            return _is_of_library(a, b, exposed)
    if "world" in (one.kind, other.kind):
        known = other if one.kind == "world" else one
        if known.kind == "local" or (known.kind == "global" and "::" in known.name):
            return known.name in exposed
        return True
    if one.kind in ("global", "local") or other.kind in ("global", "local"):
        if one.kind in ("global", "local") and other.kind in ("global", "local"):
            return one[:2] == other[:2]
        return (one if one.kind in ("global", "local") else other).name in exposed
    if one.kind == "member" and other.kind == "member":
        return one.name == other.name
    return "memory" in (one.kind, other.kind) or may_share(one.type, other.type)


def _is_of_library(one: Cell, other: Cell, exposed: Iterable[str]) -> bool:
    """Whether what the library keeps may have a byte of another cell. Of variables it knows those whose addresses it was passed;
    what streams are called is not changed by functions that `functions` tells of. An object of a text is a character (C11 6.5p7),
    and no variable of the program is in it."""
    if other.kind in ("global", "local"):
        return one.kind == "library" and other.name not in STREAMS and other.name in exposed
    if one.kind == "text" and other.kind in ("member", "object"):
        return other.kind == "object" and _is_character(other.type)
    return True


def may_share(one: Type, other: Type) -> bool:
    """Whether objects of these types can be one (C11 6.5p7); characters can be any."""
    return _is_character(one) or _is_character(other) or is_compatible(one, other) or _both_pointers(one, other)


def _both_pointers(one: Type, other: Type) -> bool:
    return isinstance(one, Pointer) and isinstance(other, Pointer)


def _is_character(type_: Type) -> bool:
    return isinstance(type_, Void | Record) or (isinstance(type_, Integer) and type_.bits == 8)


@kept_with
def own(cfa: Cfa) -> Own:
    """What a function does itself."""
    reads: set[Cell | None] = set()
    writes: set[Cell | None] = set()
    calls: dict[tuple[str, Effects], None] = {}
    fails = leaves = False
    for edge in cfa.edges:
        effect = edge.effect
        reads.update(map(cell, read_by(effect)))
        target = ir.target_of(effect)
        if target is not None:
            writes.add(cell(target))
        fails = fails or any(map(can_fail, ir.expressions(effect)))
        if isinstance(effect, ir.Unsupported):
            leaves = True
            writes.add(WORLD)
        if isinstance(effect, ir.Call):
            name = ir.direct_callee(effect) or POINTER
            calls[name, _outside(library(name, effect))] = None
    fails = fails or any(_reads_indeterminate(cfa, edge) for edge in cfa.edges)
    return Own(Effects(_visible(reads), _visible(writes), fails, leaves), tuple(calls), taken_by(cfa).static)


def _reads_indeterminate(cfa: Cfa, edge: Edge) -> bool:
    names = indeterminate(cfa, edge.source)
    return bool(names) and any(isinstance(root := ir.root(read), ir.Var) and root.name in names for read in read_by(edge.effect))


def _outside(done: Effects) -> Effects:
    """What of the effects of a call others see than the function with the call: not what it does to a variable of this function,
    which may have the name of another function's."""
    return msgspec.structs.replace(done, reads=_visible(done.reads), writes=_visible(done.writes))


def _visible(cells: Iterable[Cell | None]) -> Cells:
    """What belongs to the function itself is nothing to others, but through pointers, which have cells of their own."""
    return frozenset(found for found in cells if found is not None and found.kind != "local")


def exposed_by(exprs: Iterable[ir.Expr]) -> Iterator[str]:
    """The variables whose addresses are used."""
    return (var.name for var in taken_in(exprs) if var.scope != "function")


def through_pointers(functions: Mapping[str, Own], taken: Iterable[str]) -> Own:
    """What a call through a pointer does: what any function does whose address is taken; anything if there is none."""
    calls = tuple((name, _NOTHING if name in functions else _UNKNOWN) for name in sorted(taken))
    return Own(Effects(fails=True) if calls else _UNKNOWN, calls, frozenset())


def library(name: str, call: ir.Call) -> Effects:
    """What a call of an external function does. What is printed first, and which of several inputs is read first, is no question
    that is asked here. Functions of the library may set `errno` whatever happens (C11 7.5p3)."""
    if name == POINTER:
        return _NOTHING  # `through_pointers` says it
    function, done = known(name), _done(name, call)
    if function is None:
        return done
    if "errno" in function.besides:  # its caller is about to read or write it
        return Effects(frozenset((ERRNO,)))
    reads = done.reads | {ERRNO} if "reads-errno" in function.besides else done.reads
    return Effects(reads, done.writes if "keeps-errno" in function.besides else done.writes | {ERRNO}, done.fails, done.leaves)


def _done(name: str, call: ir.Call) -> Effects:
    """What a call of an external function does, but for `errno`."""
    fails = any(isinstance(argument.type, Pointer) for argument in call.arguments)
    if name in NEVER_RETURN or name in CHECKS or is_assumption(name):
        return Effects(fails=fails or name in CHECKS, leaves=True)
    function, at = known(name), written_arguments(name, call)
    if function is None or at is None:
        return _OUTSIDE
    if not _has_no_order(function):
        kept = _keeps_for_itself(function, call)
        written = frozenset(_behind(call.arguments[position]) for position in at)
        return _OUTSIDE if not kept else Effects(kept | {MEMORY}, kept | written, fails or function.result in _HANDLES)
    if name in RELEASES:
        return Effects(_NONE, frozenset((MEMORY,)), fails)
    reads = frozenset((MEMORY,)) if function.reads else _NONE
    # a run that ends behind an allocation can leak the block, one that ends before cannot
    return Effects(reads, frozenset(_behind(call.arguments[position]) for position in at), fails or function.gives_block)


def _has_no_order(function: Function) -> bool:
    """Whether what the function does besides accessing memory is the same in any order."""
    is_plain = function.only_writes or function.name in RELEASES
    return is_plain and function.result not in _HANDLES and not function.positions("closed", "lock")


def _keeps_for_itself(function: Function, call: ir.Call) -> Cells:
    """What of the library's own a function changes and reads that changes nothing else besides what it is passed; nothing if it
    may do more, as `setlocale` does. A text that it returns is written by later calls, too."""
    is_open = not function.is_complete or function.never_returns or function.calls_code or function.keeps or function.frees
    if is_open or not function.besides.isdisjoint(("elsewhere", "allocates")) or function.positions("closed", "lock"):
        return _NONE
    if function.result == "static":
        if function.reads or function.written:
            return _NONE
        return frozenset((_TEXT,)) if _returns_text(call) else frozenset((_LIBRARY, MEMORY))
    return frozenset((_LIBRARY,))


def _returns_text(call: ir.Call) -> bool:
    type_ = call.callee.type
    result = type_.result if isinstance(type_, FunctionType) else None
    return isinstance(result, Pointer) and isinstance(result.target, Integer) and result.target.bits == 8


def _behind(pointer: ir.Expr) -> Cell:
    """What a library function can write behind a pointer."""
    bare = ir.strip_casts(pointer)
    root = ir.root(bare.lvalue) if isinstance(bare, ir.AddressOf) else None
    return (cell(root) if isinstance(root, ir.Var) else None) or MEMORY


class WithCallees(NamedTuple):
    """What each function does together with all that it calls, with what that follows from: `called`, the functions that each
    calls, and the strongly connected `components` of that, callees first, with the `place` of each function among them. `moved`
    are the functions whose effects are not the same object as in the revision before, and those that only one of the two has."""

    functions: Mapping[str, Own]
    ending: Set[str]
    effects: Mapping[str, Effects]
    called: Mapping[str, frozenset[str]] = {}
    components: Sequence[Sequence[str]] = ()
    place: Mapping[str, int] = {}
    moved: Set[str] = frozenset()


def with_callees(functions: Mapping[str, Own], ending: Set[str], before: WithCallees) -> WithCallees:
    """What each function does together with all that it calls. `ending` are functions that are declared not to return. What
    stayed the same since `before` is the same object."""
    last = before.functions
    dirty = {name for name, mine in functions.items() if (old := last.get(name)) is not mine and old != mine}
    called = {**before.called, **{name: frozenset(callee for callee, _ in functions[name].calls) for name in dirty}}
    effects = dict(before.effects)
    moved = (functions.keys() - before.functions.keys()) | (before.functions.keys() - functions.keys())
    for name in before.functions.keys() - functions.keys():
        del called[name], effects[name]
    components, place = before.components, before.place
    if moved or not stay(place, before.called, called, dirty):
        components = _components(functions)
        place = {name: number for number, component in enumerate(components) for name in component}
        same = set(before.components)
        dirty.update(name for component in components if component not in same for name in component)
    numbers = {place[name] for name in (functions if ending != before.ending else dirty)}
    now = WithCallees(functions, ending, effects, called, components, place, moved)
    return now._replace(moved=_close(now, effects, numbers, before.effects))


def _close(now: WithCallees, effects: dict[str, Effects], numbers: Set[int], before: Mapping[str, Effects]) -> set[str]:
    """Brings `effects` up to date, in the components of these numbers and in those that call what is not as `before`, or was
    not there, or is not any more. The functions whose effects are others."""
    moved = set(now.moved)
    for number, component in enumerate(now.components):
        if number not in numbers and (not moved or all(moved.isdisjoint(now.called[name]) for name in component)):
            continue
        found, known = _whole(component, now.functions, now.ending, effects), before.get(component[0])
        found = known if known is not None and known == found else found
        moved.update(name for name in component if before.get(name) is not found)
        effects.update(dict.fromkeys(component, found))
    return moved


def _components(functions: Mapping[str, Own]) -> Sequence[Sequence[str]]:
    calls = {name: [callee for callee, _ in mine.calls] for name, mine in functions.items()}
    return tuple(map(tuple, strongly_connected(calls)))


def _whole(component: Sequence[str], functions: Mapping[str, Own], ending: Set[str], found: Mapping[str, Effects]) -> Effects:
    """What the functions of a component do together with all that they call; `found` has that of the callees outside of it."""
    parts = [functions[name].effects for name in component]
    for name in component:
        for callee, done in functions[name].calls:
            if callee in ending:
                parts.append(Effects(leaves=True))
            if callee not in functions:
                parts.append(done)
            elif callee not in component:
                parts.append(found[callee])
    return joined(parts)


def joined(parts: Iterable[Effects]) -> Effects:
    """All that these do."""
    parts = tuple(parts)
    return Effects(
        frozenset[Cell]().union(*(part.reads for part in parts)),
        frozenset[Cell]().union(*(part.writes for part in parts)),
        any(part.fails for part in parts),
        any(part.leaves for part in parts),
    )
