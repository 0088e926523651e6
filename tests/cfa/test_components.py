"""Strongly connected components: those of networkx, in an order in which successors come first."""

from __future__ import annotations

import networkx
from hypothesis import given
from hypothesis import strategies as st

from analysis.cfa.components import stay, strongly_connected

NAMES = [f"n{number}" for number in range(12)]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    nodes = draw(st.lists(st.sampled_from(NAMES), unique=True))
    return {node: draw(st.lists(st.sampled_from(NAMES), max_size=4)) for node in nodes}


@given(graphs())
def test_the_components_are_those_of_networkx(graph: dict[str, list[str]]) -> None:
    expected: networkx.DiGraph[str] = networkx.DiGraph()
    expected.add_nodes_from(graph)
    expected.add_edges_from((node, other) for node, others in graph.items() for other in others if other in graph)
    found = strongly_connected(graph)
    assert sorted(map(sorted, found)) == sorted(map(sorted, networkx.strongly_connected_components(expected)))
    place = {node: number for number, component in enumerate(found) for node in component}
    assert all(place[other] <= place[node] for node, others in graph.items() for other in others if other in graph)


@given(graphs(), graphs())
def test_components_stay_only_where_they_are_the_same_in_an_order_that_holds(
    one: dict[str, list[str]], other: dict[str, list[str]]
) -> None:
    old = {node: frozenset(others) for node, others in one.items()}
    new = {node: frozenset(other.get(node, one[node])) for node in one}
    found = strongly_connected(one)
    place = {node: number for number, component in enumerate(found) for node in component}
    if stay(place, old, new, [node for node in old if old[node] != new[node]]):
        assert sorted(map(sorted, found)) == sorted(map(sorted, strongly_connected(new)))
        assert all(place[to] <= place[node] for node, others in new.items() for to in others if to in place)


def test_components_stay_where_calls_go_down_and_none_within_a_circle_went() -> None:
    place = {"a": 0, "b": 0, "c": 1, "d": 2}
    old = {"a": {"b"}, "b": {"a"}, "c": {"a"}, "d": {"c", "outside"}}
    assert stay(place, old, {**old, "d": {"a", "other"}, "c": set[str]()}, ("c", "d"))
    assert not stay(place, old, {**old, "c": {"d"}}, ("c",))
    assert not stay(place, old, {**old, "a": set[str]()}, ("a",))


def test_a_long_chain_needs_no_recursion() -> None:
    graph = {f"f{number}": [f"f{number + 1}"] for number in range(50_000)}
    assert strongly_connected(graph) == [[f"f{number}"] for number in reversed(range(50_000))]
    graph["f49999"] = ["f0"]
    assert [len(component) for component in strongly_connected(graph)] == [50_000]
