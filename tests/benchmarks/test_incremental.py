"""ORION's experiment on a small program: what it measures is a program without a function, and then with it again."""

import json
from random import Random

import msgspec
import pytest

from benchmarks.curves import Panel
from benchmarks.incremental import picture, tables
from benchmarks.stubs import read
from benchmarks.there_and_back import ALGORITHMS, Chain, describe, measure

TEXT = """\
void *malloc(unsigned long);
void free(void *);
static int verbose;
static int count(int *p) { return p ? *p : 0; }
static int *make(void) { return malloc(sizeof(int)); }
static void drop(int *p) { free(p); }
static void unused(void) { }
int main(int argc, char **argv) {
    int *p = make();
    if (!p)
        return 1;
    *p = argc;
    drop(p);
    if (verbose)
        verbose = count(p);
    return *p;
}
"""


@pytest.fixture
def edited(tmp_path):
    (tmp_path / "p.c").write_text(TEXT, encoding="utf-8")
    commands = tmp_path / "compile_commands.json"
    entry = {"directory": str(tmp_path), "file": "p.c", "arguments": ["cc", "-c", "p.c"]}
    commands.write_text(json.dumps([entry]), encoding="utf-8")
    return read(commands)


def short(name):
    return name.rpartition("::")[2]


def named(edited, *wanted):
    return [name for name in edited.program.functions if short(name) in wanted]


def test_the_functions_are_those_that_calls_lead_to(edited):
    traits = {short(name): trait for name, trait in edited.traits.items()}
    assert traits.keys() == {"main", "make", "count", "drop"}
    assert traits["main"].depth == 0
    assert traits["main"].callees == 3
    assert (traits["drop"].depth, traits["drop"].callers, traits["drop"].callees) == (1, 1, 0)


def test_an_emptied_function_keeps_its_interface_and_gives_out_no_id_twice(edited):
    (name,) = named(edited, "make")
    whole = edited.program.functions[name]
    edited.empty([name])
    empty = edited.program.functions[name]
    assert (empty.type, empty.parameters, len(empty.edges)) == (whole.type, whole.parameters, 1)
    edited.put_back([name])
    again = edited.program.functions[name]
    assert again.digest == whole.digest
    assert again.by_id.keys().isdisjoint(whole.by_id.keys() - empty.by_id.keys())
    for edge in again.edges:
        assert edited.places.place(name, edge.id).path.endswith("p.c")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_findings_go_with_a_function_and_come_back_with_it(edited, algorithm):
    chain = Chain(edited, algorithm)
    assert [finding.rule for finding in chain.findings]
    expected = chain.findings
    edited.empty(named(edited, "drop"))
    assert chain.check("drop").refused is None
    assert "missing: use-after-free in main" in describe(expected, chain.findings)
    edited.put_back(named(edited, "drop"))
    assert chain.check("drop").refused is None
    assert not describe(expected, chain.findings)


def test_a_step_that_makes_a_global_constant_is_repaired_in_both_directions(edited):
    chain = Chain(edited, "incr-back")
    expected = chain.findings
    edited.empty(named(edited, "main"))
    assert chain.check("main").refused is None
    assert not chain.findings
    edited.put_back(named(edited, "main"))
    assert chain.check("main").refused is None
    assert not describe(expected, chain.findings)


def test_a_step_that_makes_a_program_small_is_refused_and_says_so(edited):
    size = sum(len(cfa.edges) for cfa in edited.program.functions.values())
    edited.limits = msgspec.structs.replace(edited.limits, global_edges=size - 1)
    chain = Chain(edited, "incr-back")
    edited.empty(named(edited, "make"))
    assert chain.check("make").refused == "the program became small, or large"


def test_the_whole_experiment_finds_no_difference_and_gives_tables(edited):
    measured = measure("tiny", edited, None, [0.5], 2, Random(0), 1)
    assert not measured.differs
    assert sorted(short(step.what) for step in measured.steps["incr-back"]) == ["count", "drop", "main", "make"]
    text = tables(measured)
    assert "| of these measured | 4 |" in text
    assert "fell back to Full" not in text
    assert "| 50% | 2 |" in text
    assert picture(measured).startswith("<svg")


def test_a_sample_is_as_large_as_was_asked(edited):
    measured = measure("tiny", edited, 2, [], 1, Random(0), 1)
    assert len(measured.steps["incr-fwd"]) == 2


def test_a_finding_that_is_lost_or_new_is_reported_but_another_trace_is_not(edited):
    chain = Chain(edited, "incr-back")
    finding = chain.findings[0]
    assert not describe([finding], [msgspec.structs.replace(finding, trace=())])
    assert describe([finding], []).startswith("missing: ")
    assert describe([], [finding]).startswith("new: ")


def test_correlation_is_that_of_pearson_where_there_is_one():
    assert Panel("t", [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).r == "1.00"
    assert Panel("t", [(0.0, 1.0), (0.0, 3.0)]).r == "-"
