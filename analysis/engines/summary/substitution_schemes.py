"""Formulas of subtrees, in which calls are bodies, summaries, or nothing at all ([UPPROVER] Definition 3, Algorithm 2).

`Summaries` says what is known of each call: a formula over its interface, or nothing, for the set N of the paper. What holds of
it between checks is property (8) of the paper: the body of a call implies its summary, if each call that it makes is replaced by
the summary of it, or by its body where it has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Literal

from analysis.engines.summary.call_tree import Node
from analysis.smt.logic.term_building import and_, symbol
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.solver import Model

Scheme = Literal["inline", "eager", "lazy"]
"""How calls are substituted at first. inline: bodies; eager: summaries, and bodies where there are none; lazy: summaries, and
nothing where there are none."""
Kind = Literal["inline", "sum", "nondet"]

Summaries = MutableMapping[str, Term]
"""The summaries of calls by their keys, over canonical symbols; calls that are absent have none."""


def kind_of(scheme: Scheme, node: Node, summaries: Mapping[str, Term]) -> Kind:
    """How a scheme substitutes a call."""
    if node.is_cut or scheme == "inline":
        return "inline"
    if node.key in summaries:
        return "sum"
    return "inline" if scheme == "eager" else "nondet"


class SubtreeFormula:
    """The formula of the subtree of `root`. `bodies` are the calls of which the body is in it, `frontier` those that stand for
    their subtrees. Each call can be given its body later, which only adds conjuncts: its summary follows from it."""

    def __init__(self, root: Node, scheme: Scheme, summaries: Mapping[str, Term]) -> None:
        self.root = root
        self.scheme = scheme
        self._summaries = summaries
        self.bodies: dict[Node, None] = {}
        self.frontier: dict[Node, None] = {}
        self.first = list(self.give_body(root))

    def give_body(self, node: Node) -> Iterator[Term]:
        """Replaces a call by its body, and the calls that it makes as the scheme says. Gives the new conjuncts."""
        self.frontier.pop(node, None)
        waiting = [node]
        while waiting:
            current = waiting.pop()
            self.bodies[current] = None
            yield from self.body(current)
            for child in current.children.values():
                kind = kind_of(self.scheme, child, self._summaries)
                if kind == "inline":
                    waiting.append(child)
                else:
                    self.frontier[child] = None
                    yield from self.summary(child)

    def give_bodies(self, nodes: Iterable[Node]) -> Iterator[Term]:
        """The same for several calls, callers first: of those that are in the frontier when their turn comes."""
        return (term for node in nodes if node in self.frontier for term in self.give_body(node))

    def body(self, node: Node) -> list[Term]:
        """What the body of a call says."""
        return [node.instance(term) for term in node.partition.conjuncts]

    def summary(self, node: Node, summaries: Mapping[str, Term] | None = None) -> list[Term]:
        """What the summary of a call says, of those that are given, else of all; nothing if it has none."""
        known = (self._summaries if summaries is None else summaries).get(node.key)
        return [] if known is None else [node.instance(known)]

    def label(self, node: Node, summaries: Mapping[str, Term] | None = None) -> Term:
        """What the formula says of a call in it by itself; for `summaries` see `summary`."""
        own = self.body(node) if node in self.bodies else []
        return and_(*own, *(self.summary(node, summaries) if node is not self.root else ()))

    def relevant_calls(self, goal: Term) -> list[Node]:
        """The calls without bodies on which it may depend whether the goal, a formula over the interface of the root, holds: the
        assignments in the bodies are followed backward from the goal's symbols. What such a call is passed is all relevant."""
        seen: set[tuple[Node, Term]] = set()
        waiting = [(self.root, term) for term in symbols((goal,))]
        found: dict[Node, None] = {}
        while waiting:
            node, term = waiting.pop()
            if (node, term) in seen:
                continue
            seen.add((node, term))
            waiting.extend((node, source) for source in node.partition.depends.get(term, ()))
            child, inner = self._in_slot(node, term)
            if child is not None and inner is not None:
                if child in self.frontier:
                    found[child] = None
                else:
                    waiting.append((child, inner))
            if node is not self.root and node.parent is not None and term in node.partition.inputs:
                waiting.append((node.parent, node.slot.of(term)))
        return list(found)

    @staticmethod
    def _in_slot(node: Node, term: Term) -> tuple[Node | None, Term | None]:
        """The call whose output or literal the symbol is, and its own name for it."""
        key, slash, rest = str(term.data).partition("/")
        child = node.children.get(key) if slash and not rest.startswith("in:") else None
        return child, None if child is None or rest == "called" else symbol(rest, term.sort)

    def was_called(self, node: Node, model: Model) -> bool:
        """Whether, in a model of the formula, the root comes to the call of a node."""
        while node is not self.root:
            assert node.parent is not None
            if not model.value(node.parent.instance(node.slot.called)):
                return False
            node = node.parent
        return True
