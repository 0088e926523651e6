"""Nodes that lead to sinks: after any exchange of parts they are those that are found from nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.engines.automaton.facts.value_flows import BEHIND, Node, Part, ValueFlows

RULES = (0, 1)
NODES: list[Node] = [("f", "a"), ("f", "b"), ("g", "a"), ("", ".m"), ("", "*int"), ("", "*long"), ("", "@x")]
FLOWS = st.frozensets(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=6)
SINKS = st.frozensets(st.tuples(st.sampled_from((*RULES, 2)), st.sampled_from([*NODES, BEHIND])), max_size=2)
PROGRAMS = st.lists(st.tuples(FLOWS, SINKS), max_size=4)


def reaching(parts: list[Part], rule: int) -> frozenset[Node]:
    """The nodes that lead to a sink of a rule, by the definition: what is behind pointers flows to BEHIND."""
    flows = {flow for flows, _ in parts for flow in flows}
    flows |= {(BEHIND, target) for target, _ in flows if target[1][0] == "*"}
    found = {node for _, sinks in parts for one, node in sinks if one == rule}
    while more := {source for target, source in flows if target in found} - found:
        found |= more
    return frozenset(found)


@given(PROGRAMS, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), PROGRAMS), max_size=4))
def test_nodes_are_those_from_nothing(parts: list[Part], edits: list[tuple[int, int, list[Part]]]) -> None:
    kept = ValueFlows(RULES, parts)
    for first, number, new in edits:
        kept.exchange(parts[first : first + number], new)
        parts = parts[:first] + new + parts[first + number :]
        before = kept.nodes
        assert before == {rule: reaching(parts, rule) for rule in RULES}
        kept.exchange(parts, parts)
        assert all(kept.nodes[rule] is before[rule] for rule in RULES)
