"""`--condition FILE` of `everproof check`: a condition that `everproof diff` wrote is read again, and only the paths that it
leaves are looked at ([DIFFDP] section 2: conditional verification).

What is said then is said of those paths. The rest rests on the old version, and on the file: reports say so (invariant I14). Of
rules that the condition does not speak of nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import msgspec

from analysis.c.undefined import EdgeRule
from analysis.certificate.nonzero.writes import Own
from analysis.cfa.graph import Places, Program
from analysis.cli.command_options import Asked
from analysis.cli.difference.condition_format import AutomatonText, ConditionText, EntryText, text_digest
from analysis.cli.failure import Failure
from analysis.cli.json_format import SCHEMA
from analysis.engines.difference.data_detector import Goal
from analysis.engines.difference.difference_condition import Automaton, Condition
from analysis.engines.difference.difference_graph import Context, Move, Node
from analysis.engines.difference.extraction import Method
from analysis.engines.difference.restricted_program import restricted
from analysis.model.distribution import everproof_version
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import CERTIFICATE_BYTES
from analysis.model.report import Message, Report
from analysis.rules.load import load_rules

_UNDEFINED: frozenset[str] = frozenset(rule for group in get_args(EdgeRule) for rule in get_args(group) or (group,))
_NEW = "write a new one with `everproof diff OLD NEW --condition FILE`"


def speaks_of(method: Method, goal: Goal, rule: str) -> bool:
    """Whether a condition says anything of a rule: diffCond speaks of all properties of paths, diffDP of the one that it looked
    at."""
    if method == "diffCond":
        return True
    return rule == "assertion" if goal == "assertions" else rule in _UNDEFINED


class LeftPaths:
    """What a file leaves of a program."""

    def __init__(self, path: str, text: str | None = None) -> None:
        """Raises Failure if the file cannot be used. `text`: what it holds, where it need not be read."""
        self._path = path
        try:
            data = read_file(path, CERTIFICATE_BYTES) if text is None else text
            self._text = msgspec.json.decode(data, type=ConditionText)
        except UnreadableError as error:
            raise Failure(f"The condition {path} cannot be read: {error.reason}; {_NEW}.") from None
        except msgspec.DecodeError as error:
            raise Failure(f"The file {path} is no condition ({error}): {_NEW}.") from None
        if self._text.schema != SCHEMA:
            raise Failure(f"The condition {path} has schema {self._text.schema}, not {SCHEMA}: {_NEW}.")
        if self._text.everproof != everproof_version():
            raise Failure(f"The condition {path} was written by version {self._text.everproof} of Everproof: {_NEW}.")

    def terms(self, asked: Asked) -> Asked:
        """The options with the rules that the condition speaks of, and without a store: answers about a part of a program must
        not be taken for answers about all of it. Raises Failure if other rules were asked for by name."""
        if asked.options.engine == "summary":
            raise Failure("The engine summary is about all paths: leave out --condition, or use another --engine.")
        if asked.certificate is not None or asked.write_baseline is not None:
            raise Failure("With --condition, neither a certificate nor a baseline is written: leave out one of the options.")
        names = tuple(rule.name for rule in load_rules(asked.options)[0])
        rules = tuple(name for name in names if self._speaks_of(name))
        others = [name for name in asked.options.rules if name in names and name not in rules]
        if others or not rules:
            what = ", ".join(others or names)
            raise Failure(f"The condition {self._path} says nothing of {what}: write one with --extractor diffcond.")
        return msgspec.structs.replace(asked, options=msgspec.structs.replace(asked.options, rules=rules), store=None)

    def _speaks_of(self, rule: str) -> bool:
        return speaks_of(self._text.extractor, self._text.property, rule)

    def restrict(self, program: Program, places: Places, entries: Sequence[str]) -> Program:
        """The program without what is covered. Raises Failure if the condition is about another one."""
        if self._text.program != text_digest(program, places):
            raise Failure(f"The condition {self._path} is about another version, or other options: {_NEW}.")
        names = list(program.functions)
        try:
            conditions = {names[entry.number]: _condition(program, names, entry) for entry in self._text.entries}
        except (IndexError, KeyError):
            raise Failure(
                f"The condition {self._path} names functions or statements that the program does not have: {_NEW}."
            ) from None
        return restricted(program, conditions, entries)

    def said(self, report: Report) -> Report:
        """The report with what it rests on."""
        text = f"the paths that the condition {self._path} leaves out violate nothing new; they were not checked"
        functions = tuple(
            msgspec.structs.replace(
                function,
                verdicts={
                    rule: msgspec.structs.replace(one, assumptions=(*one.assumptions, text)) if one.verdict == "safe" else one
                    for rule, one in function.verdicts.items()
                },
            )
            for function in report.functions
        )
        message = Message("note", "", f"It is assumed that {text}.")
        return msgspec.structs.replace(report, functions=functions, messages=(*report.messages, message))


def _condition(program: Program, names: Sequence[str], entry: EntryText) -> Condition:
    if entry.covers_all:
        context = Context(names[entry.number], frozenset())
        first = Node(program.functions[context.function].entry, 0)
        return Condition(context, {context: Automaton(first, -1, frozenset(), frozenset(), {})})
    contexts = [Context(names[one.number], frozenset((Own(str(at)),))) for at, one in enumerate(entry.automata)]
    automata = {contexts[at]: _automaton(program, contexts, at, one) for at, one in enumerate(entry.automata)}
    if contexts[entry.initial].function != names[entry.number]:
        raise KeyError(entry.function)
    return Condition(contexts[entry.initial], automata)


def _automaton(program: Program, contexts: Sequence[Context], number: int, text: AutomatonText) -> Automaton:
    cfa = program.functions[contexts[number].function]
    locations = {text.initial: cfa.entry} | {move.target: cfa.edges[move.edge].target for move in text.moves}
    nodes = [Node(locations[at], None if one.state == "indicator" else at) for at, one in enumerate(text.nodes)]
    moves: dict[Node, dict[int, Move]] = {}
    for move in text.moves:
        edge = cfa.edges[move.edge]
        if edge.source != nodes[move.source].location or edge.target != nodes[move.target].location:
            raise KeyError(move.edge)
        moves.setdefault(nodes[move.source], {})[edge.id] = Move(nodes[move.target], tuple(contexts[one] for one in move.calls))
    states = list(zip(nodes, (one.state for one in text.nodes), strict=True))
    return Automaton(
        nodes[text.initial],
        cfa.exit,
        frozenset(node for node, state in states if state in ("open", "indicator")),
        frozenset(node for node, state in states if state in ("open", "returning", "exit") and not node.is_indicator),
        moves,
    )
