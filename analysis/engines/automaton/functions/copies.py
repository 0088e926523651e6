"""Available copies: pairs of access paths that surely hold the same value at a location (a forward must-analysis).

When a value begins to be tracked under one path (`free(p)`), its other paths in the function (`q`, after `q = p`) are found here.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cached_property

from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import Path, behind_pointer, kills, lvalue_cell, path_cells, path_of
from analysis.engines.automaton.functions.footprint import address_taken
from analysis.model import ir
from analysis.model.c_types import Record

Copies = frozenset[tuple[Path, Path]]
_LIMIT = 24
NONE: Copies = frozenset()


class AvailableCopies:
    """The pairs that hold at each location of one function; `written` are the cells that each edge can change."""

    def __init__(self, cfa: Cfa, written: Mapping[int, frozenset[str]]) -> None:
        self._cfa = cfa
        self._written = written
        self._taken = address_taken(cfa)
        self._at: dict[int, Copies] = {cfa.entry: NONE}
        work = [cfa.entry]
        while work:
            location = work.pop()
            for edge in cfa.outgoing.get(location, ()):
                pairs = after(edge, self._at[location], written, self._taken)
                before = self._at.get(edge.target)
                merged = pairs if before is None else before & pairs
                if merged != before:
                    self._at[edge.target] = merged
                    work.append(edge.target)

    def at(self, location: int) -> Copies:
        """The pairs that hold at a location."""
        return self._at.get(location, NONE)

    @cached_property
    def cells(self) -> frozenset[str]:
        """The cells of all pairs that assignments make: a write to others ends none of them."""
        pairs = (_pair(edge.effect) for edge in self._cfa.edges if isinstance(edge.effect, ir.Assign))
        return frozenset(cell for pair in pairs if pair is not None for path in pair for cell in path_cells(path))

    def same(self, location: int, path: Path) -> set[Path]:
        """The path and all that surely hold its value at the location."""
        return closure(self._at.get(location, NONE), path)

    def same_after(self, edge: Edge, path: Path) -> set[Path]:
        """The path and all that surely hold its value after the edge."""
        return closure(after(edge, self._at.get(edge.source, NONE), self._written, self._taken), path)


def after(edge: Edge, copies: Copies, written: Mapping[int, frozenset[str]], taken: Set[str]) -> Copies:
    """The pairs that hold after an edge, where these hold before it. `taken` are the variables whose address is used: of
    structures in these nothing is known, nor of those behind pointers, as parts of them can be written under other names."""
    effect = edge.effect
    if isinstance(effect, ir.Assign):
        target, cell = path_of(effect.target), lvalue_cell(effect.target)
        kept = {pair for pair in copies if not any(kills(target, cell, path) or _is_part(target, path) for path in pair)}
        pair = _pair(effect)
        is_open = (
            pair is not None and isinstance(effect.target.type, Record) and any(_is_written_elsewhere(p, taken) for p in pair)
        )
        if pair is not None and not is_open and len(kept) < _LIMIT:
            kept.add(pair)
        return frozenset(kept)
    if isinstance(effect, ir.Call) and copies:
        return frozenset(pair for pair in copies if not any(changed(path, written[edge.id]) for path in pair))
    return copies


def _is_written_elsewhere(record: Path, taken: Set[str]) -> bool:
    """Whether parts of a structure can be written under other names."""
    return record[0] in taken or behind_pointer(record)


def _pair(assign: ir.Assign) -> tuple[Path, Path] | None:
    """The paths that hold the same value after an assignment."""
    target, source = path_of(assign.target), path_of(assign.value)
    return (target, source) if target is not None and source is not None and _worth(target, source) else None


def _worth(target: Path, source: Path) -> bool:
    return not (target[0].startswith("$") or source[0].startswith("$")) and source[: len(target)] != target


def changed(path: Path, written: frozenset[str]) -> bool:
    """Whether a call that can change these cells may change the value at the path."""
    if path[-1] == "&" and not any(operation[0] == "*" for operation in path):
        return False
    return any(cell in written for cell in path_cells(path) if cell != "*")


def closure(copies: Copies, path: Path) -> set[Path]:
    """All paths that the pairs connect with the path, itself included; a part of a structure with that of a copy."""
    found = {path}
    grown = True
    while grown:
        pairs = (pair for one, other in copies for pair in ((one, other), (other, one)))
        more = {(*other, *known[len(one) :]) for one, other in pairs for known in found if known == one or _is_part(known, one)}
        grown = not more <= found
        found |= more
    return found


def _is_part(path: Path | None, whole: Path) -> bool:
    """Whether a path leads to a part of a structure or an array."""
    length = len(whole)
    return path is not None and len(path) > length and path[:length] == whole and path[length][0] in ".["
