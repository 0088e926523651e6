"""Derivations as data for a client to draw: the same as in the engine's own graph."""

from __future__ import annotations

import pytest

from analysis.api import Checker
from analysis.engines.automaton.report.drawing import draw
from analysis.engines.automaton.solver.full import unpack
from analysis.model.options import Options

SOURCE = """void *malloc(unsigned long);
void free(void *);

static int use(int *p)
{
    return *p;
}

int main(int argc, char **argv)
{
    int *p = malloc(4);

    if (!p)
        return 1;
    if (argc > 1)
        free(p);
    *p = 1;
    return use(p);
}
"""


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    path = tmp_path_factory.mktemp("drawing") / "main.c"
    path.write_text(SOURCE, encoding="utf-8")
    checker = Checker(Options(compiler="none"))
    checker.open((str(path),))
    checker.check()
    return checker


def test_every_configuration_and_derivation_is_drawn(checker: Checker) -> None:
    view, analysis = checker.explore()
    for name, graph in analysis.graph.functions.items():
        drawn = draw(analysis, name, view.places)
        assert drawn is not None
        assert len(drawn.configurations) == len(graph.derived)
        assert len(drawn.derivations) == graph.size
        assert [c.location for c in drawn.configurations] == [unpack(c)[0] for c in graph.derived]
        firsts = [d.target for d in drawn.derivations if not d.again]
        roots = sum(1 for c in graph.derived if graph.parent(c) is None)
        assert len(set(firsts)) == len(firsts) == len(graph.derived) - roots, "each but the entries is derived first once"


def test_the_defect_is_an_error_at_its_line(checker: Checker) -> None:
    drawn = checker.derivations(checker.files[0], "main")
    assert drawn is not None
    (error,) = [c for c in drawn.configurations if c.error and c.fact.startswith("use-after-free")]
    line = SOURCE.splitlines()[error.place.range.start.line - 1]
    assert line.strip() == "*p = 1;"
    assert drawn.entries[0].start
    assert any("free(p)" in d.effect for d in drawn.derivations)
    assert "[argc > 1]" in {d.effect for d in drawn.derivations}, "as it is written"


def test_a_callee_names_its_callers_and_what_they_pass(checker: Checker) -> None:
    drawn = checker.derivations(checker.files[0], "use")
    assert drawn is not None
    callers = {caller for entry in drawn.entries for caller in entry.callers}
    assert len(callers) == 1
    assert "use(p)" in callers.pop()
    assert not any(entry.start for entry in drawn.entries)


def test_what_is_too_much_is_counted(checker: Checker) -> None:
    view, analysis = checker.explore()
    everything = draw(analysis, "main", view.places)
    some = draw(analysis, "main", view.places, most=3)
    assert everything is not None
    assert some is not None
    assert some.configurations == everything.configurations[:3]
    assert some.left_out == len(everything.configurations) - 3
    assert all(max(d.source, d.target) < 3 for d in some.derivations)


def test_what_leads_to_a_line_is_drawn_alone(checker: Checker) -> None:
    lines = SOURCE.splitlines()
    whole = checker.derivations(checker.files[0], "main")
    drawn = checker.derivations(checker.files[0], "main", lines.index("    *p = 1;") + 1)
    assert whole is not None
    assert drawn is not None
    assert whole.leads_to == ()
    assert {drawn.configurations[end].fact.partition(":")[0] for end in drawn.leads_to} == {
        "null-dereference",
        "use-after-free",
    } & {finding.rule for finding in checker.check().findings}
    assert all(drawn.configurations[end].reported for end in drawn.leads_to)
    assert 0 < len(drawn.configurations) < len(whole.configurations) == len(drawn.configurations) + drawn.left_out
    reached = {derivation.target for derivation in drawn.derivations if not derivation.again}
    roots = [c for number, c in enumerate(drawn.configurations) if number not in reached]
    assert {(root.location, root.fact) for root in roots} == {(whole.configurations[0].location, "nothing")}


def test_a_line_without_a_finding_has_what_holds_there(checker: Checker) -> None:
    drawn = checker.derivations(checker.files[0], "main", SOURCE.splitlines().index("        free(p);") + 1)
    assert drawn is not None
    ends = [drawn.configurations[end] for end in drawn.leads_to]
    assert ends
    assert all("p is" in end.fact and not end.error for end in ends)
    head = checker.derivations(checker.files[0], "main", 9)
    assert head is not None
    assert all(head.configurations[end].reported for end in head.leads_to)


def test_what_is_not_there_has_none(checker: Checker) -> None:
    assert checker.derivations(checker.files[0], "nobody") is None
    assert checker.derivations("elsewhere.c", "main") is None
