"""The nodes from which a value can flow to where a rule reports, kept up to date while flows and such places come and go.

What an edit takes away is looked at first: the nodes that may depend on it lose what they were, and those that still lead to a
place get it back. Then what the edit adds is followed backwards. The work is in proportion to the nodes that may change, not to
the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set

Node = tuple[str, str]
BEHIND: Node = ("", "*")
"""Everything behind pointers of which no more is known."""

Flow = tuple[Node, Node]  # target, source
Sink = tuple[int, Node]  # rule, and where it reports
Part = tuple[frozenset[Flow], frozenset[Sink]]  # of one function


class ValueFlows:
    """The flows and sinks of the functions of a program. `nodes` are those that lead to a sink, by rule: the same object as
    long as they are the same. Sinks of other rules do not count."""

    def __init__(self, rules: Iterable[int], parts: Iterable[Part]) -> None:
        self._into: dict[Node, set[Node]] = {}
        self._onto: dict[Node, set[Node]] = {}
        self._sinks: dict[int, set[Node]] = {rule: set() for rule in rules}
        self._several: Counter[Flow | Sink] = Counter()  # how many functions have what more than one has
        self.nodes: dict[int, frozenset[Node]] = dict.fromkeys(self._sinks, frozenset())
        self.exchange((), parts)

    def exchange(self, before: Iterable[Part], after: Iterable[Part]) -> None:
        """Takes the parts of some functions away, and adds those that they have now."""
        before, after = tuple(before), tuple(after)
        come = {flow for flows, _ in after for flow in flows if self._add_flow(flow)}
        begun = {sink for _, sinks in after for sink in sinks if self._add_sink(sink)}
        gone = {flow for flows, _ in before for flow in flows if self._remove_flow(flow)}
        ended = {sink for _, sinks in before for sink in sinks if self._remove_sink(sink)}
        # what begins or ends to be behind pointers is a flow to there
        come |= {(BEHIND, target) for target, _ in come if _is_behind(target)}
        gone |= {(BEHIND, target) for target, _ in gone if _is_behind(target) and target not in self._into}
        nodes = {}
        for rule, known in self.nodes.items():
            left = self._without(known, _of_rule(rule, ended), gone, self._sinks[rule])
            nodes[rule] = self._with(left, _of_rule(rule, begun), come)
        self.nodes = nodes

    def _without(self, known: frozenset[Node], ended: Set[Node], gone: Iterable[Flow], sinks: Set[Node]) -> frozenset[Node]:
        """The nodes that still lead to a sink when some sinks and flows are gone; what is new is left out."""
        doubtful = self._backwards({*ended, *(source for target, source in gone if target in known)}, known)
        if not doubtful:
            return known
        sure = {
            node
            for node in doubtful
            if node in sinks or any(target in known and target not in doubtful for target in self._onto.get(node, ()))
        }
        lost = doubtful - self._backwards(sure, doubtful)
        return known - lost if lost else known

    def _with(self, known: frozenset[Node], begun: Set[Node], come: Iterable[Flow]) -> frozenset[Node]:
        """The nodes that lead to a sink when some sinks and flows have come."""
        start = {*begun, *(source for target, source in come if target in known)} - known
        return known.union(self._backwards(start, None, known)) if start else known

    def _backwards(self, start: Iterable[Node], among: Set[Node] | None, beyond: Set[Node] = frozenset()) -> set[Node]:
        """What flows to nodes, with these: only what is in `among` (None: anything) and not in `beyond`."""
        found = {node for node in start if (among is None or node in among) and node not in beyond}
        work = list(found)
        while work:
            for source in self._into.get(work.pop(), ()):
                if source not in found and (among is None or source in among) and source not in beyond:
                    found.add(source)
                    work.append(source)
        return found

    def _add_flow(self, flow: Flow) -> bool:
        """Adds a flow of one function; whether no other one has it."""
        target, source = flow
        if source in self._into.get(target, ()):
            self._several[flow] += 1
            return False
        self._connect(target, source)
        if _is_behind(target):
            self._connect(BEHIND, target)
        return True

    def _remove_flow(self, flow: Flow) -> bool:
        """Takes a flow away from one function; whether no other one has it."""
        target, source = flow
        if self._is_of_another(flow):
            return False
        self._disconnect(target, source)
        if _is_behind(target) and target not in self._into:
            self._disconnect(BEHIND, target)
        return True

    def _add_sink(self, sink: Sink) -> bool:
        """Adds a sink of one function; whether no other one has it. One of a rule that does not count is left out."""
        rule, node = sink
        if rule not in self._sinks:
            return False
        if node in self._sinks[rule]:
            self._several[sink] += 1
            return False
        self._sinks[rule].add(node)
        return True

    def _remove_sink(self, sink: Sink) -> bool:
        rule, node = sink
        if rule not in self._sinks or self._is_of_another(sink):
            return False
        self._sinks[rule].discard(node)
        return True

    def _is_of_another(self, part: Flow | Sink) -> bool:
        """Whether more than one function has it; then one less has."""
        if part not in self._several:
            return False
        self._several[part] -= 1
        if not self._several[part]:
            del self._several[part]
        return True

    def _connect(self, target: Node, source: Node) -> None:
        self._into.setdefault(target, set()).add(source)
        self._onto.setdefault(source, set()).add(target)

    def _disconnect(self, target: Node, source: Node) -> None:
        for ways, one, other in ((self._into, target, source), (self._onto, source, target)):
            ways[one].discard(other)
            if not ways[one]:
                del ways[one]


def _of_rule(rule: int, sinks: Iterable[Sink]) -> set[Node]:
    return {node for one, node in sinks if one == rule}


def _is_behind(node: Node) -> bool:
    return node[1][0] == "*" and node != BEHIND
