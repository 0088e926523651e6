"""What paths held when a function was entered, after the function has stored something else there.

`grow(list)` frees the block that `list->items` held, and stores a new one. A caller with `items = list->items` still has the old
one. Inside `grow` no path leads to it any more. So it gets a path of its own: one root with the path at the entry in it, which
no write changes. At the call it means the caller's copies of `list->items` from before.

Both are asked for the first time that a run comes to a place: the second round of a loop with `grow(list)` frees another block,
but the first one has freed what the copies hold. So ways back to an earlier place are left out (a forward must-analysis in one
pass). A variable counts as a copy where it is null instead: `items = list ? list->items : NULL;`. Nothing is done with that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import LENGTH_LIMIT, Path, kills, lvalue_cell, path_cells, path_of, root_of
from analysis.engines.automaton.functions.copies import NONE, Copies, after, changed, closure
from analysis.engines.automaton.functions.footprint import address_taken
from analysis.model import ir
from analysis.model.c_types import Pointer

_ENTRY = "<entry>"
_BETWEEN = " "
_NULL: Path = ("<null>",)


def at_entry(path: Path) -> Path:
    """The path to what another one held when the function was entered."""
    return (_ENTRY + _BETWEEN.join(path),)


def before_entry(path: Path) -> Path | None:
    """The path whose value at the entry a path stands for; None for other paths."""
    root = path[0]
    return tuple(root.removeprefix(_ENTRY).split(_BETWEEN)) if root.startswith(_ENTRY) else None


class EntryValues:
    """What is known, in one function, of a run that comes to a place for the first time; `written` are the cells that each edge
    can change, `null` the paths that are found to be null, by the edge of the branch."""

    def __init__(self, cfa: Cfa, written: Mapping[int, frozenset[str]], null: Mapping[int, Path]) -> None:
        self._cfa = cfa
        self._written = written
        self._taken = address_taken(cfa)
        self._null = null
        self._order = {location: number for number, location in enumerate(_in_order(cfa))}
        self._copies: dict[int, Copies] | None = None
        self._unchanged: dict[Path, frozenset[int]] = {}
        self._last: dict[tuple[int, Path], bool] = {}

    def same(self, location: int, path: Path) -> set[Path]:
        """The path and all that surely hold its value at the location, or null, at the first time."""
        return closure(frozenset(pair for pair in self.copies(location) if _NULL not in pair), path)

    def copies(self, location: int) -> Copies:
        """The pairs of paths that surely hold the same value at the location, if none of them is null, at the first time; those
        with _NULL are null."""
        if self._copies is None:
            self._copies = self._find_copies()
        return self._copies.get(location, NONE)

    def left_behind(self, edge: Edge, paths: Iterable[Path]) -> set[Path]:
        """Those of the paths, as they were at the entry, that hold the same value before the edge, at the first time, and another
        one at the function's end, maybe."""
        found = (path for path in paths if len(path) <= LENGTH_LIMIT and path[-1] != "&" and before_entry(path) is None)
        return {at_entry(path) for path in found if self._is_as_at_entry(edge.source, path) and self._is_changed_by(edge, path)}

    def is_asked_like(self, other: EntryValues) -> bool:
        """Whether all that the other one was asked has the same answer here."""
        return all(self._find_unchanged(path) == places for path, places in list(other._unchanged.items())) and all(
            edge not in self._cfa.by_id or self._is_changed_by(self._cfa.by_id[edge], path) == answer
            for (edge, path), answer in list(other._last.items())
        )

    @property
    def cells(self) -> frozenset[str]:
        """The cells of the paths that were asked about."""
        return frozenset(cell for path in self._unchanged for cell in path_cells(path))

    def _is_as_at_entry(self, location: int, path: Path) -> bool:
        places = self._unchanged.get(path)
        if places is None:
            places = self._unchanged[path] = self._find_unchanged(path)
        return location in places

    def _find_unchanged(self, path: Path) -> frozenset[int]:
        """The locations to which no way from the entry, other than in rounds, leads over a change of the path."""
        changed_at: set[int] = set()
        for location in self._order:
            for edge in self._onward(location):
                if location in changed_at or self._changes(edge, path):
                    changed_at.add(edge.target)
        return frozenset(self._order.keys() - changed_at)

    def _is_changed_by(self, edge: Edge, path: Path) -> bool:
        """Whether an edge, or one that can follow it, may change the path."""
        key = edge.id, path
        if key not in self._last:
            self._last[key] = any(self._changes(one, path) for one in self._following(edge))
        return self._last[key]

    def _following(self, edge: Edge) -> Iterable[Edge]:
        yield edge
        seen, work = {edge.target}, [edge.target]
        while work:
            for one in self._cfa.outgoing.get(work.pop(), ()):
                yield one
                if one.target not in seen:
                    seen.add(one.target)
                    work.append(one.target)

    def _changes(self, edge: Edge, path: Path) -> bool:
        target = ir.target_of(edge.effect)
        if target is not None and kills(path_of(target), lvalue_cell(target), path):
            return True
        return isinstance(edge.effect, ir.Call) and self._is_reached(edge, path) and changed(path, self._written[edge.id])

    def _is_reached(self, edge: Edge, path: Path) -> bool:
        """Whether a call is passed what the path leads through. It could get there in other ways; that it stores something else
        there, and releases nothing, is so rare that it is not asked."""
        return path[0][0] == "@" or any(isinstance(one, ir.Var) and root_of(one) == path[0] for one in self._cfa.parts[edge.id])

    def _find_copies(self) -> dict[int, Copies]:
        found: dict[int, Copies] = {self._cfa.entry: NONE}
        for location in self._order:
            for edge in self._onward(location):
                pairs, before = self._through(edge, found[location]), found.get(edge.target)
                found[edge.target] = pairs if before is None else _in_both(before, pairs)
        return found

    def _through(self, edge: Edge, pairs: Copies) -> Copies:
        """The pairs after an edge. What was read through a pointer that turns out to be null was not read there."""
        null = self._null.get(edge.id)
        if null is not None:
            behind = (*null, "*")
            return pairs | {(one, _NULL) for one, other in pairs if other[: len(behind)] == behind and len(one) == 1}
        effect = edge.effect
        if isinstance(effect, ir.Call):
            return frozenset(pair for pair in pairs if not any(self._changes(edge, path) for path in pair))
        found = after(edge, pairs, self._written, self._taken)
        if isinstance(effect, ir.Assign) and isinstance(effect.target, ir.Var) and isinstance(effect.target.type, Pointer):
            value = ir.strip_casts(effect.value)
            if isinstance(value, ir.IntConst) and value.value == 0:
                found |= {((root_of(effect.target),), _NULL)}
        return found

    def _onward(self, location: int) -> list[Edge]:
        """The edges from a location that do not lead back."""
        here = self._order[location]
        return [edge for edge in self._cfa.outgoing.get(location, ()) if self._order[edge.target] > here]


def _in_both(one: Copies, other: Copies) -> Copies:
    """The pairs that hold where two ways meet: those of both, and those of one whose variable is null on the other."""
    kept = {pair for pair in one if pair in other or (pair[0], _NULL) in other}
    return frozenset(kept | {pair for pair in other if (pair[0], _NULL) in one})


def _in_order(cfa: Cfa) -> list[int]:
    """The locations that are reached, each before those to which its edges lead on (reverse postorder)."""
    found: list[int] = []
    seen, work = {cfa.entry}, [(cfa.entry, iter(cfa.outgoing.get(cfa.entry, ())))]
    while work:
        location, edges = work[-1]
        target = next((edge.target for edge in edges if edge.target not in seen), None)
        if target is None:
            found.append(location)
            work.pop()
        else:
            seen.add(target)
            work.append((target, iter(cfa.outgoing.get(target, ()))))
    return found[::-1]
