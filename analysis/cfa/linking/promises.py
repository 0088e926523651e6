"""Functions that are declared `pure` or `const`, and may not keep what that promises (GCC manual, "Common Function Attributes").

Compilers leave out a call of such a function whose result is not used, and take the result of one call for that of another. A
program does the same without that where the function has no effect and comes back; one that is `const` has to read nothing that
may change between two calls, too. The same has to hold of all that the function calls:

- a function of the program: what its text does is looked at, whatever it is declared to be;
- a function of the library: one that only computes from what it reads. It may set `errno` (C11 7.5p3): in what is checked it
  then holds any value, the one included that it had before;
- another function of which there is no text: where it is declared `pure` or `const` as well. It is taken to do anything or
  nothing, so that a program without the call does nothing new.

Functions that call each other in a circle, calls through pointers, and loops that neither count nor walk through an object
(`ending_loops`) are not shown to come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.c.calls import is_null, written_arguments
from analysis.c.control import UNREACHABLE
from analysis.c.functions import Function, known
from analysis.cfa.addresses_taken import taken_by, taken_in
from analysis.cfa.building.unit import Unit
from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa
from analysis.cfa.linking.ending_loops import loops_end
from analysis.model import ir
from analysis.model.bit_counts import bit_count
from analysis.model.c_types import LP64
from analysis.model.kept_with import kept_with

_DOES_MORE = "the attribute pure or const, though it does more than compute a value"
_MAY_STAY = "the attribute pure or const, though it may not return"
_READS = "the attribute const, though it reads what may change"

_COMPUTING = ("C 7.4.", "C 7.22.1.", "C 7.22.6.", "C 7.24.2.", "C 7.24.3.", "C 7.24.4.", "C 7.24.5.", "C 7.24.6.")
"""The sections of C11 whose functions do nothing but to compute a value, and to write to what they are passed: characters,
numbers in texts, absolute values, memory and texts."""
_SAME = "C 7.22.6."  # what these return depends on nothing but their arguments


_Reads = frozenset[str | None]
"""The variables at file level that are read; None stands for whatever pointers lead to, and for settings like the locale."""
_ANYTHING: _Reads = frozenset((None,))


class _Own(NamedTuple):
    """What a function does itself: whether it only computes, whether it has a loop that is not shown to end, what it
    reads, and the functions that it calls. `library`: what those of them read that only compute if they are the library's."""

    computes: bool
    loops: bool
    reads: _Reads
    calls: tuple[str, ...]
    library: Mapping[str, _Reads]


def broken(
    units: Sequence[Unit], cfas: Mapping[str, Cfa], pure: frozenset[str], const: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """The functions that may not keep their promise, with the reason. `pure` and `const` are those that some unit declares so."""
    declared = [name for name in cfas if name in pure]
    reasons: dict[str, str] = {}
    reads: dict[str, _Reads] = {}
    for component in strongly_connected(_reached(declared, cfas)):
        owns = [_own(cfas[name]) for name in component]
        within = {**reasons, **dict.fromkeys(component, _MAY_STAY)}
        called = [_called(callee, own, within, cfas, pure) for own in owns for callee in own.calls]
        reason = _reason(owns, called)
        read = frozenset[str | None]().union(*(_read_by(own, reads, cfas, const) for own in owns))
        reasons.update(dict.fromkeys(component, reason))
        reads.update(dict.fromkeys(component, read))
    for name in declared:
        if reasons[name]:
            yield name, reasons[name]
        elif name in const and not all(one is not None and _never_changes(one, units, cfas) for one in reads[name]):
            yield name, _READS


def _reached(names: Sequence[str], cfas: Mapping[str, Cfa]) -> dict[str, tuple[str, ...]]:
    """The functions of the program that these call, directly or not, each with those that it calls itself."""
    found: dict[str, tuple[str, ...]] = {}
    waiting = list(reversed(names))
    while waiting:
        name = waiting.pop()
        if name not in found and name in cfas:
            found[name] = _own(cfas[name]).calls
            waiting.extend(reversed(found[name]))
    return found


def _called(name: str, caller: _Own, reasons: Mapping[str, str], cfas: Mapping[str, Cfa], pure: frozenset[str]) -> str:
    """Why a function that is called does not keep the promise; empty if it does. `reasons`: the same of those of the program."""
    if name in cfas:
        return reasons[name]
    return "" if name in caller.library or (name in pure and known(name) is None) else _DOES_MORE


def _reason(owns: Sequence[_Own], called: Sequence[str]) -> str:
    """Why functions that call each other do not keep the promise; empty if they do. `called`: the same of all that they call."""
    if not all(own.computes for own in owns) or _DOES_MORE in called:
        return _DOES_MORE
    return _MAY_STAY if any(own.loops for own in owns) or _MAY_STAY in called else ""


def _read_by(own: _Own, reads: Mapping[str, _Reads], cfas: Mapping[str, Cfa], const: frozenset[str]) -> _Reads:
    """What a function reads, and all that it calls. `reads`: the same of functions of the program outside of its circle."""
    found = own.reads
    for name in own.calls:
        if name in cfas:
            found |= reads.get(name, frozenset())
        else:
            found |= own.library.get(name, frozenset() if name in const else _ANYTHING)
    return found


@kept_with
def _own(cfa: Cfa) -> _Own:
    """What a function does itself."""
    computes = True
    calls: dict[str, None] = {}
    library: dict[str, _Reads] = {}
    others = set[str]()
    for edge in cfa.edges:
        effect = edge.effect
        target = ir.target_of(effect)
        name = ir.direct_callee(effect) if isinstance(effect, ir.Call) else None
        is_known = not isinstance(effect, ir.Unsupported) and (name is not None or not isinstance(effect, ir.Call))
        computes = computes and is_known and (target is None or _is_own(target))
        if isinstance(effect, ir.Call) and name is not None and name != UNREACHABLE:
            calls[name] = None
            function = _computing(name, effect)
            if function is None:
                others.add(name)
            else:
                library[name] = frozenset() if _is_bits(name) or function.described.startswith(_SAME) else _ANYTHING
    library = {name: read for name, read in library.items() if name not in others}
    return _Own(computes, not loops_end(cfa), frozenset(_read(cfa)), tuple(calls), library)


def _is_own(lvalue: ir.Expr) -> bool:
    """Whether an lvalue is a variable of the function itself, or a part of one."""
    root = ir.root(lvalue)
    return isinstance(root, ir.Var) and root.scope in ("parameter", "local", "temporary")


def _computing(name: str, call: ir.Call) -> Function | None:
    """What is known of a library function whose call computes a value, and writes at most to variables of the caller; None of any
    other."""
    function, at = known(name), written_arguments(name, call)
    if function is None or at is None or not function.only_writes or function.gives_block:
        return None
    is_plain = function.described.startswith(_COMPUTING) or "table" in function.besides or _is_bits(name)
    return function if is_plain and all(_leads_to_own(call.arguments[position]) for position in at) else None


def _is_bits(name: str) -> bool:
    """Whether a function of compilers counts bits, or swaps bytes."""
    return name.startswith("__builtin_bswap") or bit_count(name, LP64) is not None


def _leads_to_own(pointer: ir.Expr) -> bool:
    bare = ir.strip_casts(pointer)
    return is_null(bare) or (isinstance(bare, ir.AddressOf) and _is_own(bare.lvalue))


def _read(cfa: Cfa) -> Iterator[str | None]:
    """The variables at file level that a function mentions; None if it reads through a pointer."""
    for edge in cfa.edges:
        for expr in ir.expressions(edge.effect):
            for part in ir.walk(expr):
                if isinstance(part, ir.Deref):
                    yield None
                elif isinstance(part, ir.Var) and part.scope == "global":
                    yield part.name


def _never_changes(name: str, units: Sequence[Unit], cfas: Mapping[str, Cfa]) -> bool:
    """Whether a variable is of one file, and nothing there writes it or takes its address."""
    if "::" not in name or any(_is_reached(name, cfa) for cfa in cfas.values()):
        return False
    values = (part for unit in units for one in unit.variables for part in (one.initial, *(each.value for each in one.parts)))
    statics = (
        part
        for unit in units
        for one in unit.functions
        for static in one.statics
        for part in (static.initial, *(each.value for each in static.parts))
    )
    return all(var.name != name for var in taken_in(value for value in (*values, *statics) if value is not None))


def _is_reached(name: str, cfa: Cfa) -> bool:
    """Whether a function may write a variable, or take its address."""
    for edge in cfa.edges:
        effect = edge.effect
        written = ir.target_of(effect)
        if written is not None and isinstance(root := ir.root(written), ir.Var) and root.name == name:
            return True
    return name in taken_by(cfa).static
