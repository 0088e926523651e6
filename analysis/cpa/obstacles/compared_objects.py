"""Comparisons whose result depends on where different objects lie in memory. A pointer one past the last element of an
object may be equal to one to the first of another (C11 6.5.9p6); C does not define which of two objects comes first,
nor how far apart they are (6.5.8p5, 6.5.6p9); each compiler decides. Formulas give objects addresses far apart, in an
arbitrary order. So nothing is proved of a program that may make such a comparison.

Two pointers are taken to be to one object if they are of kinds (`pointer_kinds`) for which there is only one, of which
there is only one at a time. A test for equality counts if one of them was moved, or if both may be to literals of one
text, which may be one object or two (6.4.5p7). What only comes from outside does not count: models know nothing of where
that is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from analysis.c.functions import known
from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cpa.obstacles.pointer_kinds import BLOCK, LITERAL, MEMORY, OUTSIDE, VARIABLE, Kind, is_object, pointer_kinds
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name, spell_expr


@kept_with
def compared_objects(program: Program) -> dict[tuple[str, int], str]:
    """Such comparisons, as text, by function and edge."""
    pairs = [
        (name, edge.id, part) for name, cfa in program.functions.items() for edge in cfa.edges for part in _pairs(edge.effect)
    ]
    search = _Search(program) if pairs else None
    return {(name, edge): spell_expr(part) for name, edge, part in pairs if search is not None and search.is_doubtful(name, part)}


def compared_reasons(program: Program, functions: Iterable[str]) -> Iterator[str]:
    """Why nothing is proved of runs through these functions."""
    wanted = set(functions)
    for (name, _), text in compared_objects(program).items():
        if name in wanted:
            yield f"{display_name(name)}: {text} may depend on where objects lie in memory, which C does not define"


def _pairs(effect: ir.Effect) -> Iterator[ir.Binary]:
    """Where an effect compares two pointers or subtracts them, but for constants such as null."""
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if not isinstance(part, ir.Binary) or part.operator not in {*COMPARISONS, "-"}:
                continue
            sides = part.left, part.right
            if all(isinstance(side.type, Pointer) and not isinstance(ir.strip_casts(side), ir.IntConst) for side in sides):
                yield part


class _Search:
    """What is known of the objects of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._kinds = pointer_kinds(program)
        calls = {name: list(dict.fromkeys(_callees(program, cfa))) for name, cfa in program.functions.items()}
        components = strongly_connected(calls)
        self._recursive = {name for one in components for name in one if len(one) > 1 or name in calls[name]}
        self._objects: dict[Kind, set[Kind]] = {}
        for kind in (*self._kinds.kinds, *self._from_outside()):
            if is_object(kind):
                self._objects.setdefault(self._kinds.root(kind), set()).add(kind)
        for kind in self._from_outside():
            self._objects.setdefault(self._kinds.root(kind), set()).add(("", OUTSIDE))

    def _from_outside(self) -> list[Kind]:
        """The kinds of pointers that may come from outside of the program."""
        program = self._program
        found = [
            (name, parameter.name)
            for name, cfa in program.functions.items()
            if name == "main" or name not in self._kinds.callers or ("main" not in program.functions and "::" not in name)
            for parameter in cfa.parameters
        ]
        if "main" not in program.functions or any(not _calls_nothing(call.callee) for call in self._kinds.outside):
            found += [MEMORY, *(("", name) for name in program.globals if "::" not in name)]
        return found

    def is_doubtful(self, name: str, part: ir.Binary) -> bool:
        """Whether the result may depend on where different objects lie."""
        sources = {kind for side in (part.left, part.right) for kind in self._kinds.sources(name, side)}
        roots = {self._kinds.root(kind) for kind in sources}
        objects = {kind for kind in sources if is_object(kind)}.union(*(self._objects.get(root, ()) for root in roots))
        if part.operator in ("==", "!=") and roots.isdisjoint(map(self._kinds.root, tuple(self._kinds.moved))):
            return self._are_equal_literals(objects)
        inside = {kind for kind in objects if not kind[1].startswith(OUTSIDE)}
        return bool(inside) and (len(objects) > 1 or not all(map(self._is_one, inside)))

    def _are_equal_literals(self, objects: set[Kind]) -> bool:
        """Whether two of the objects are literals of the same text, which may be one object (C11 6.4.5p7)."""
        texts: Counter[str] = Counter()
        for kind in objects:
            if kind[1].startswith(LITERAL):
                texts[kind[1].partition(":")[2]] += self._kinds.literals[kind]
        return any(count > 1 for count in texts.values())

    def _is_one(self, kind: Kind) -> bool:
        """Whether there is one such object at a time."""
        name, text = kind
        if text.startswith(BLOCK):
            edge = self._program.functions[name].by_id[int(text[1:])]
            return self._runs_once(name, edge)
        return not text.startswith(VARIABLE) or name == "" or name not in self._recursive

    def _runs_once(self, name: str, edge: Edge) -> bool:
        """Whether a run goes over an edge at most once."""
        while not _is_repeated(self._program.functions[name], edge):
            callers = self._kinds.callers.get(name, [])
            if name == "main" or len(callers) != 1:
                return name == "main" and not callers
            name, edge = callers[0]
        return False


def _calls_nothing(name: str) -> bool:
    function = known(name)
    return function is not None and function.calls_nothing


def _callees(program: Program, cfa: Cfa) -> Iterator[str]:
    for edge in cfa.calls:
        if isinstance(edge.effect, ir.Call):
            yield from (callee for callee in program.targets(edge.effect) if callee in program.functions)


def _is_repeated(cfa: Cfa, edge: Edge) -> bool:
    """Whether a path leads from behind an edge to it again."""
    seen, waiting = {edge.target}, [edge.target]
    while waiting:
        for other in cfa.outgoing.get(waiting.pop(), ()):
            if other.target not in seen:
                seen.add(other.target)
                waiting.append(other.target)
    return edge.source in seen
