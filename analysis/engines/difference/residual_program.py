"""The residual program of a condition: the new version without what the condition covers, for verifiers that take C programs.

The reducer of [DIFFDP] (section 4.1) unrolls the product of program and condition, which gives gotos and copies. Here the text of
the new version stays as it is written, loops and all. Only statements are taken out to which no path comes that is
not covered; `abort()` stands for each. So the residual program does a little more than the condition leaves, and never less:
every path that is not covered is still there, up to where it violates the property.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.cfa.graph import Places, Program
from analysis.engines.difference.difference_condition import Automaton, Condition
from analysis.engines.difference.difference_graph import Context, Move
from analysis.frontend.syntax.parser import Node as SyntaxNode
from analysis.frontend.syntax.parser import parse
from analysis.model import ir

_STOP = b"{ abort(); }"
_HEAD = b"extern void abort(void);\n"
_KEPT = frozenset(("labeled_statement", "case_statement", "attributed_statement"))
_AROUND = _KEPT | {"translation_unit", "function_definition", "compound_statement", "else_clause"}
_Locations = dict[str, set[int]]


class ManyFilesError(Exception):
    """The program has several files, so that its text is not one program."""


def residual_program(program: Program, places: Places, conditions: Iterable[Condition]) -> bytes:
    """The text of the residual program: the preprocessed text of the new version, for all entries that have a condition. Raises
    ManyFilesError."""
    left: _Locations = {}
    for condition in conditions:
        for name, locations in left_locations(program, condition).items():
            left.setdefault(name, set()).update(locations)
    texts = {places.source(name)[1].unit for name in program.functions}
    if len(texts) != 1:
        raise ManyFilesError
    text = places.source(next(iter(program.functions)))[0]
    edits = [edit for name in program.functions for edit in _edits(program, places, name, left.get(name, set()))]
    for start, end in sorted(edits, reverse=True):
        lines = text[start:end].count(b"\n")
        text = text[:start] + _STOP + b"\n" * lines + text[end:]
    return _HEAD + text if edits else text


# -- locations ---------------------------------------------------------------------------------------------------


def left_locations(program: Program, condition: Condition) -> _Locations:
    """The locations of the new version, by function, to which paths come that are not covered."""
    found: _Locations = {}
    needed = _needed(condition)
    unaligned: list[tuple[str, int]] = []
    for context, automaton in condition.automata.items():
        mine = found.setdefault(context.function, set())
        mine.update(node.location for node in automaton.open if not node.is_indicator)
        if context in needed:
            mine.update(node.location for node in automaton.returning)
        unaligned += [(context.function, node.location) for node in automaton.open if node.is_indicator]
        unaligned += [(called, -1) for called in _called_alone(program, context.function, automaton)]
    for name, location in _behind(program, unaligned):
        found.setdefault(name, set()).add(location)
    return found


def _called_alone(program: Program, function: str, automaton: Automaton) -> Iterator[str]:
    """The functions that are called by edges to indicators: the old version does not follow into them."""
    edges = program.functions[function].by_id
    for moves in automaton.moves.values():
        for at, move in moves.items():
            effect = edges[at].effect
            if move.target.is_indicator and isinstance(effect, ir.Call):
                yield from (name for name in program.targets(effect) if name in program.functions)


def _needed(condition: Condition) -> set[Context]:
    """The contexts that have to be left for a path to come to an indicator, or to what comes behind one."""
    needed = set[Context]()
    waiting = list(condition.automata)
    while waiting:
        context = waiting.pop()
        automaton = condition.automata[context]
        for move in _moves(automaton):
            is_left = move.target in automaton.open or (context in needed and move.target in automaton.returning)
            for called in move.calls if is_left else ():
                if called not in needed:
                    needed.add(called)
                    waiting.append(called)
    return needed


def _moves(automaton: Automaton) -> Iterator[Move]:
    for moves in automaton.moves.values():
        yield from moves.values()


def _behind(program: Program, unaligned: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """All locations that come behind these, over calls and returns."""
    callers: dict[str, list[tuple[str, int]]] = {}
    for name, cfa in program.functions.items():
        for edge in cfa.calls:
            assert isinstance(edge.effect, ir.Call)
            for target in program.targets(edge.effect):
                callers.setdefault(target, []).append((name, edge.target))
    seen = set[tuple[str, int]]()
    waiting = [(name, program.functions[name].entry if location < 0 else location) for name, location in unaligned]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        yield at
        cfa = program.functions[at[0]]
        if at[1] == cfa.exit:
            waiting += callers.get(at[0], [])
        for edge in cfa.outgoing.get(at[1], ()):
            waiting.append((at[0], edge.target))
            if isinstance(edge.effect, ir.Call):
                defined = (name for name in program.targets(edge.effect) if name in program.functions)
                waiting += ((name, program.functions[name].entry) for name in defined)


# -- text --------------------------------------------------------------------------------------------------------


def _edits(program: Program, places: Places, name: str, left: set[int]) -> list[tuple[int, int]]:
    """The statements of a function that are taken out, as ranges of the text: the largest ones."""
    text, source = places.source(name)
    whole = text[source.start : source.start + source.end_site.end]
    edges: Mapping[int, int] = {edge.id: edge.source for edge in program.functions[name].edges}
    sites = sorted((site.start, site.end, edges[at] in left) for at, site in source.sites.items() if at in edges)
    found: list[tuple[int, int]] = []
    waiting = [parse(whole).root]
    while waiting:
        node = waiting.pop()
        if _is_statement(node):
            inside = [kept for start, end, kept in sites if node.start_byte <= start and end <= node.end_byte]
            if inside and not any(inside) and not _has_labels(node):
                found.append((source.start + node.start_byte, source.start + node.end_byte))
                continue
        waiting.extend(child for child in node.children if _is_statement(child) or child.type in _AROUND)
    return found


def _is_statement(node: SyntaxNode) -> bool:
    """Whether a node is a statement that another one can stand for: no body of a function, and nothing that has a label."""
    if node.type not in _KEPT and node.type.endswith("_statement"):
        return node.parent is None or node.parent.type != "function_definition"
    return False


def _has_labels(node: SyntaxNode) -> bool:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in _KEPT:
            return True
        waiting.extend(one.children)
    return False
