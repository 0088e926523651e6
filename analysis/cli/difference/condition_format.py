"""The condition of a difference as JSON: which paths of the new version can violate what the old one does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.cfa.graph import Cfa, Places, Program
from analysis.cli.json_format import SCHEMA, encode_json, everproof_version
from analysis.engines.difference.data_detector import Goal
from analysis.engines.difference.difference_condition import Automaton, Condition
from analysis.engines.difference.difference_graph import Context, Move, Node
from analysis.model.spelling import display_name


def condition_json(program: Program, places: Places, conditions: Mapping[str, Condition], goal: Goal) -> str:
    """The conditions of entry functions, by linkage name; docs/protocol.md describes the fields."""
    entries = [_entry(program, places, name, condition) for name, condition in conditions.items()]
    return encode_json({"schema": SCHEMA, "everproof": everproof_version(), "property": goal, "entries": entries})


def _entry(program: Program, places: Places, name: str, condition: Condition) -> dict[str, Any]:
    numbers = {context: number for number, context in enumerate(condition.automata)}
    automata = [
        _automaton(program.functions[context.function], places, automaton, numbers)
        for context, automaton in condition.automata.items()
    ]
    return {
        "function": display_name(name),
        "covers_all": condition.covers_all,
        "initial": numbers[condition.entry],
        "automata": [] if condition.covers_all else automata,
    }


def _automaton(cfa: Cfa, places: Places, automaton: Automaton, numbers: Mapping[Context, int]) -> dict[str, Any]:
    targets = [move.target for moves in automaton.moves.values() for move in moves.values()]
    nodes = {node: number for number, node in enumerate(dict.fromkeys((automaton.initial, *automaton.moves, *targets)))}
    return {
        "function": display_name(cfa.name),
        "initial": nodes[automaton.initial],
        "nodes": [_node(automaton, node) for node in nodes],
        "moves": [
            _move(cfa, places, at, move, numbers) | {"source": nodes[source], "target": nodes[move.target]}
            for source, moves in automaton.moves.items()
            for at, move in moves.items()
        ],
    }


def _node(automaton: Automaton, node: Node) -> dict[str, Any]:
    if node.is_indicator:
        state = "indicator"
    elif node in automaton.open:
        state = "open"
    else:
        state = "exit" if node.location == automaton.exit else "returning" if node in automaton.returning else "accepting"
    return {"location": node.location, "old_location": node.partner, "state": state}


def _move(cfa: Cfa, places: Places, at: int, move: Move, numbers: Mapping[Context, int]) -> dict[str, Any]:
    start = places.place(cfa.name, at).range.start
    return {"edge": at, "line": start.line, "column": start.column, "calls": [numbers[called] for called in move.calls]}
