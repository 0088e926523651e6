"""The condition of a difference as JSON: which paths of the new version can violate what the old one does not.

Functions and edges have the numbers that they have in the text, so that the condition means the same in a program that is read
again from nothing. `program` is a digest of what the condition is about: of no other program must it be believed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from analysis.cfa.graph import Cfa, Places, Program
from analysis.cfa.revisions.beside_edges import OwnNames, beside_edges
from analysis.cli.json_format import SCHEMA, encode_json
from analysis.engines.difference.data_detector import Goal
from analysis.engines.difference.difference_condition import Automaton, Condition
from analysis.engines.difference.difference_graph import Context, Move, Node
from analysis.engines.difference.extraction import Method
from analysis.engines.difference.hidden_text import hides_text, text_of
from analysis.model.distribution import everproof_version
from analysis.model.spelling import display_name


class NodeText(msgspec.Struct, frozen=True):
    """A node; see docs/protocol.md for this and the other structures."""

    location: int
    old_location: int | None
    state: str


class MoveText(msgspec.Struct, frozen=True):
    """A move."""

    edge: int
    line: int
    column: int
    calls: tuple[int, ...]
    source: int
    target: int


class AutomatonText(msgspec.Struct, frozen=True):
    """The automaton of a function; `number` is the function's."""

    function: str
    number: int
    initial: int
    nodes: tuple[NodeText, ...]
    moves: tuple[MoveText, ...]


class EntryText(msgspec.Struct, frozen=True):
    """The condition of an entry function."""

    function: str
    number: int
    covers_all: bool
    initial: int
    automata: tuple[AutomatonText, ...]


class ConditionText(msgspec.Struct, frozen=True):
    """A file with conditions."""

    schema: int
    everproof: str
    property: Goal
    extractor: Method
    program: str
    entries: tuple[EntryText, ...]


def condition_json(program: Program, places: Places, conditions: Mapping[str, Condition], goal: Goal, method: Method) -> str:
    """The conditions of entry functions, by linkage name."""
    entries = tuple(_entry(program, places, name, condition) for name, condition in conditions.items())
    digest = text_digest(program, places)
    return encode_json(ConditionText(SCHEMA, everproof_version(), goal, method, digest, entries))


def text_digest(program: Program, places: Places) -> str:
    """What the program says, wherever its files and lines are: the edges of its functions, with what names of types and constants
    stand for, the text where it is not understood, and what is declared outside of functions."""
    units = dict.fromkeys(places.source(name)[1].unit for name in program.functions)
    paths = {path: f"file {number}" for number, path in enumerate(units)}

    def parts() -> Iterable[str]:
        for name in program.functions:
            if hides_text(program.functions[name]):
                yield text_of(places, name).decode("utf-8", "surrogateescape")
            yield from _meanings(program.functions[name])
        for table in (program.globals, program.externals, program.records):
            yield from sorted(_placeless(f"{key} {value!r}", paths) for key, value in table.items())
        yield from sorted(_placeless(name, paths) for name in program.address_taken)

    hasher = hashlib.blake2b(digest_size=16)
    for part in parts():
        hasher.update(_placeless(part, paths).encode("utf-8", "surrogateescape") + b"\0")
    return hasher.hexdigest()


def _meanings(cfa: Cfa) -> Iterator[str]:
    """The edges of a function, and what it says beside them. Locations and variables of its own have the numbers of their first
    places: their names depend on the versions before."""
    numbers: dict[int, int] = {}
    spelled = OwnNames()
    yield spelled((cfa.name, cfa.type, cfa.parameters))
    for edge in cfa.edges:
        source, target = (numbers.setdefault(one, len(numbers)) for one in (edge.source, edge.target))
        yield f"{source} {target} {spelled(edge.effect)}"
    yield from beside_edges(cfa)


def _placeless(text: str, paths: Mapping[str, str]) -> str:
    for path in sorted(paths, key=len, reverse=True):
        text = text.replace(path, paths[path])
    return text


def _entry(program: Program, places: Places, name: str, condition: Condition) -> EntryText:
    numbers = {context: number for number, context in enumerate(condition.automata)}
    functions = {name: number for number, name in enumerate(program.functions)}
    automata = tuple(
        _automaton(program.functions[context.function], places, automaton, numbers, functions[context.function])
        for context, automaton in condition.automata.items()
    )
    return EntryText(
        function=display_name(name),
        number=functions[name],
        covers_all=condition.covers_all,
        initial=numbers[condition.entry],
        automata=() if condition.covers_all else automata,
    )


def _automaton(cfa: Cfa, places: Places, automaton: Automaton, numbers: Mapping[Context, int], number: int) -> AutomatonText:
    targets = [move.target for moves in automaton.moves.values() for move in moves.values()]
    nodes = {node: number for number, node in enumerate(dict.fromkeys((automaton.initial, *automaton.moves, *targets)))}
    edges = {edge.id: number for number, edge in enumerate(cfa.edges)}

    def text(source: Node, at: int, move: Move) -> MoveText:
        start = places.place(cfa.name, at).range.start
        calls = tuple(numbers[called] for called in move.calls)
        return MoveText(edges[at], start.line, start.column, calls, nodes[source], nodes[move.target])

    moves = [text(source, at, move) for source, moves in automaton.moves.items() for at, move in moves.items()]
    texts = tuple(NodeText(node.location, node.partner, _state(automaton, node)) for node in nodes)
    return AutomatonText(display_name(cfa.name), number, nodes[automaton.initial], texts, tuple(moves))


def _state(automaton: Automaton, node: Node) -> str:
    if node.is_indicator:
        return "indicator"
    if node in automaton.open:
        return "open"
    return "exit" if node.location == automaton.exit else "returning" if node in automaton.returning else "accepting"
