"""How much IncrFwd and IncrBack do: only what a change reaches. The results are compared in `test_incremental_theorems`."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from analysis.cfa.graph import Edge
from analysis.engines.automaton.solver.changes import Changes, EdgeChanges, Repaired
from analysis.engines.automaton.solver.full import Delta, DerivationGraph, Full, unpack
from analysis.engines.automaton.solver.incr_back import incr_back
from analysis.engines.automaton.solver.incr_fwd import incr_fwd
from analysis.engines.automaton.solver.retrace import Retrace
from tests.support.machines import Body, Machine, MachineDelta, changes_between, edge_of
from tests.support.repairs import LIMIT, as_sets

Algorithm = Callable[[Delta, DerivationGraph, Changes, int], Repaired]
ALGORITHMS: list[Algorithm] = [incr_fwd, incr_back]

# "a" sets state 1, "b" is an error in state 2 and sets state 2 in others, "c" does nothing
STEPS: dict[tuple[int, object], tuple[int, ...]] = {
    **{(q, "a"): (1,) for q in range(3)},
    **{(q, "b"): (3 if q == 2 else 2,) for q in range(3)},
    **{(q, "c"): (q,) for q in range(3)},
}


def body(*labels: str) -> Body:
    """A function that is one path; its locations are 0, 2, 3... and 1."""
    places = [0, *range(2, len(labels) + 1), 1]
    return Body(0, 1, tuple(edge_of(i, places[i], places[i + 1], label) for i, label in enumerate(labels)))


def machine(**functions: Body) -> Machine:
    return Machine(functions, STEPS, {}, {}, {}, False, (("main", 0),))


def graph_of(program: Machine) -> DerivationGraph:
    return Full(MachineDelta(program), LIMIT).analyse(program.initial)


def relabelled(program: Machine, name: str, number: int, label: str) -> Machine:
    old = program.functions[name]
    edges = tuple(edge_of(e.id, e.source, e.target, label) if e.id == number else e for e in old.edges)
    return msgspec.structs.replace(program, functions={**program.functions, name: Body(old.entry, old.exit, edges)})


def with_edge(program: Machine, name: str, edge: Edge) -> Machine:
    old = program.functions[name]
    bodies = {**program.functions, name: Body(old.entry, old.exit, (*old.edges, edge))}
    return msgspec.structs.replace(program, functions=bodies)


def between(old: Machine, new: Machine) -> Changes:
    return changes_between(MachineDelta(old), MachineDelta(new))


LAYERS = machine(
    main=body("c", "f", "c", "g", "c"), f=body("c", "leaf", "c"), g=body("c", "leaf", "b"), leaf=body("c", "a", "c", "c")
)


@pytest.mark.parametrize("repair", ALGORITHMS)
def test_nothing_changed_costs_nothing(repair: Algorithm) -> None:
    graph = graph_of(LAYERS)
    delta = MachineDelta(LAYERS)
    done = repair(delta, graph, Changes(), LIMIT)
    assert (done.checked, done.compared, done.configurations_added, done.derivations_added) == ([], 0, 0, 0)
    assert delta.asked == {}


@pytest.mark.parametrize("repair", ALGORITHMS)
def test_a_modification_that_changes_no_answer_recomputes_and_checks_nothing(repair: Algorithm) -> None:
    graph = graph_of(LAYERS)
    before = as_sets(graph)
    delta = MachineDelta(LAYERS)
    done = repair(delta, graph, Changes({"leaf": EdgeChanges(modified=frozenset({1}))}), LIMIT)
    assert done.compared == 2  # the leaf is entered in two states
    assert (done.checked, done.configurations_checked, done.configurations_added, done.derivations_added) == ([], 0, 0, 0)
    assert done.configurations_reused == graph.configurations
    assert delta.asked == {"leaf": 4}  # is it quiet, and the step
    assert as_sets(graph) == before


def test_a_change_in_a_leaf_that_keeps_its_summaries_touches_no_caller() -> None:
    changed = with_edge(relabelled(LAYERS, "leaf", 0, "b"), "leaf", edge_of(9, 3, 4, "b"))  # "a" follows: the same at the exit
    changed = relabelled(changed, "leaf", 3, "a")
    graph, delta = graph_of(LAYERS), MachineDelta(changed)
    changes = between(LAYERS, changed)
    assert changes.functions.keys() == {"leaf"}
    done = incr_back(delta, graph, changes, LIMIT)
    assert done.checked == ["leaf"]
    assert delta.asked.keys() == {"leaf"}
    assert done.configurations_added > 0
    assert done.configurations_removed > 0
    assert as_sets(graph) == as_sets(graph_of(changed))


def test_a_lost_summary_is_checked_up_to_where_it_makes_no_difference() -> None:
    changed = relabelled(LAYERS, "leaf", 1, "b")  # leaf ends in 2 now, not in 1, and so does f
    graph, delta = graph_of(LAYERS), MachineDelta(changed)
    done = incr_back(delta, graph, between(LAYERS, changed), LIMIT)
    assert sorted(done.checked) == ["f", "g", "leaf", "main"]
    assert list(Retrace(graph).errors()) == list(Retrace(graph_of(changed)).errors()) == ["leaf"]

    absorbed = relabelled(LAYERS, "f", 2, "a")
    absorbed = relabelled(absorbed, "g", 2, "a")  # both set the state themselves
    graph, changed = graph_of(absorbed), relabelled(absorbed, "leaf", 1, "b")
    done = incr_back(MachineDelta(changed), graph, between(absorbed, changed), LIMIT)
    assert sorted(done.checked) == ["f", "g", "leaf"]
    assert as_sets(graph) == as_sets(graph_of(changed))


def test_a_new_summary_is_followed_without_a_check() -> None:
    changed = with_edge(LAYERS, "leaf", edge_of(9, 0, 4, "b"))
    graph, delta = graph_of(LAYERS), MachineDelta(changed)
    for repair in ALGORITHMS:
        graph = graph_of(LAYERS)
        done = repair(delta, graph, between(LAYERS, changed), LIMIT)
        assert (done.checked, done.configurations_removed, done.derivations_removed) == ([], 0, 0)
        assert as_sets(graph) == as_sets(graph_of(changed))


def test_a_path_past_a_deleted_branch_keeps_what_both_lead_to() -> None:
    branch = with_edge(LAYERS, "leaf", edge_of(9, 2, 3, "c"))
    old = relabelled(branch, "leaf", 1, "c")
    graph = graph_of(old)
    done = incr_back(
        MachineDelta(relabelled(LAYERS, "leaf", 1, "c")), graph, Changes({"leaf": EdgeChanges(deleted=frozenset({9}))}), LIMIT
    )
    assert (done.configurations_removed, done.derivations_removed, done.configurations_added) == (0, 1, 0)


def test_errors_below_a_call_that_is_gone_are_not_reported_and_are_known_when_it_is_back() -> None:
    old = machine(main=body("b", "f"), f=body("c", "g"), g=body("b", "c"))
    new = relabelled(old, "main", 1, "c")
    graph = graph_of(old)
    assert list(Retrace(graph).errors()) == ["g"]
    done = incr_back(MachineDelta(new), graph, between(old, new), LIMIT)
    assert done.checked == ["main"]
    assert graph.stale
    assert "g" in graph.functions
    assert Retrace(graph).errors() == {}
    delta = MachineDelta(old)
    done = incr_back(delta, graph, between(new, old), LIMIT)
    assert list(Retrace(graph).errors()) == ["g"]
    assert delta.asked.keys() == {"main"}


def test_incr_fwd_removes_what_incr_back_left() -> None:
    old = machine(main=body("b", "f"), f=body("c", "g"), g=body("b", "c"))
    new = relabelled(old, "main", 1, "c")
    graph = graph_of(old)
    incr_back(MachineDelta(new), graph, between(old, new), LIMIT)
    incr_fwd(MachineDelta(new), graph, Changes(), LIMIT)
    assert as_sets(graph) == as_sets(graph_of(new))
    assert not graph.stale


def test_a_recursion_that_supports_only_itself_is_removed() -> None:
    old = machine(main=body("c", "f"), f=body("f", "c"))
    old = with_edge(old, "f", edge_of(9, 0, 1, "a"))
    new = msgspec.structs.replace(old, functions={**old.functions, "f": body("f", "c")})
    for repair in ALGORITHMS:
        graph = graph_of(old)
        assert graph.functions["f"].summaries == {0: [1]}
        repair(MachineDelta(new), graph, between(old, new), LIMIT)
        assert graph.functions["f"].summaries == {0: []}
        assert {unpack(c)[0] for c in graph.functions["main"].derived} == {0, 2}


def test_a_graph_that_the_limit_cut_off_is_not_repaired() -> None:
    graph = Full(MachineDelta(LAYERS), 3).analyse(LAYERS.initial)
    with pytest.raises(ValueError, match="cannot be repaired"):
        incr_fwd(MachineDelta(LAYERS), graph, Changes(), LIMIT)


@pytest.mark.parametrize("repair", ALGORITHMS)
def test_the_limit_ends_a_repair(repair: Algorithm) -> None:
    graph = graph_of(LAYERS)
    longer = with_edge(LAYERS, "main", edge_of(9, 0, 5, "a"))
    repair(MachineDelta(longer), graph, between(LAYERS, longer), graph.configurations)
    assert not graph.complete


@pytest.mark.parametrize("repair", ALGORITHMS)
def test_a_derivation_that_is_left_with_its_own_consequence_as_support_is_removed(repair: Algorithm) -> None:
    loop = Machine({"main": body("f")}, STEPS, {(0, 0): (1,)}, {}, {}, False, (("main", 0),))
    old = msgspec.structs.replace(loop, functions={**loop.functions, "f": body("f")})
    new = msgspec.structs.replace(old, direct={})  # calls are not passed any more without the summary
    graph = graph_of(old)
    assert [list(map(len, part.via.values())) for part in graph.functions.values()] == [[2], [2]]
    repair(MachineDelta(new), graph, between(old, new), LIMIT)
    assert as_sets(graph) == as_sets(graph_of(new))
    assert graph.functions["f"].summaries == {0: []}


@pytest.mark.parametrize("repair", ALGORITHMS)
def test_a_repair_says_by_which_function_another_was_concerned(repair: Algorithm) -> None:
    new = relabelled(LAYERS, "leaf", 1, "c")  # it returns in the state that it was entered in
    reasons = repair(MachineDelta(new), graph_of(LAYERS), between(LAYERS, new), LIMIT).reasons
    assert (reasons["f"], reasons["main"], reasons["g"]) == (("summary", "leaf"), ("summary", "f"), ("argument", "main"))


@pytest.mark.parametrize("repair", ALGORITHMS)
def test_a_modification_that_changes_no_answer_concerns_no_other_function(repair: Algorithm) -> None:
    done = repair(MachineDelta(LAYERS), graph_of(LAYERS), Changes({"leaf": EdgeChanges(modified=frozenset({1}))}), LIMIT)
    assert done.reasons == {}
