"""What is kept of a revision: its text says the same, and nothing that others wrote is believed."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from analysis.engines.summary import known_calls, revision_chain
from analysis.engines.summary.body_partitions import CUT
from analysis.engines.summary.bounded_answer import BoundedAnswer, Level
from analysis.engines.summary.call_tree import Node
from analysis.engines.summary.known_calls import KnownCalls
from analysis.engines.summary.level_chain import LevelChain
from analysis.engines.summary.revision_chain import ChainOptions
from analysis.engines.summary.summary_refinement import Implication, implied
from analysis.smt.logic.term_building import FALSE, not_
from analysis.smt.logic.terms import Term
from tests.support.explorations import program_of

HEAD = """void reach_error(void); int nondet(void);
static int low(int n) { return n > 5 ? 5 : n < 0 ? 0 : n; }
static int twice(int n) { return low(n) + low(n); }
"""
HOLDS = HEAD + "int main(void) { int a = nondet(); if (twice(a) > 10) reach_error(); return 0; }"
WRONG = HOLDS.replace("n > 5 ? 5 : n < 0 ? 0 : n", "n > 9 ? 9 : n < 0 ? 0 : n")
LEVELS: list[Level] = ["euf", "lra", "int", "bv"]


def chain(*levels: Level) -> LevelChain:
    return LevelChain(ChainOptions(bound=3), levels)


def known_of(text: str, *levels: Level) -> KnownCalls:
    made = chain(*levels)
    made.verify(program_of(text))
    return made.known


@pytest.mark.parametrize("level", LEVELS)
def test_a_text_says_what_was_written(level: Level) -> None:
    known = known_of(HOLDS, level)
    again = known_calls.read(known_calls.write(known))
    assert again == known
    if level != "euf":
        assert known.levels[level]


@pytest.mark.parametrize("level", LEVELS[1:])
def test_another_chain_goes_on(level: Level) -> None:
    known = known_of(HOLDS, level)
    for are_believed, validated in ((True, 0), (False, 4)):
        other = chain(level)
        other.resume(known, are_believed=are_believed)
        found = other.verify(program_of(HOLDS))
        assert (found.status, len(found.work.validated), len(found.work.held)) == ("holds", validated, validated)
        assert other.known == known


@pytest.mark.parametrize("level", LEVELS[1:])
def test_forged_summaries_change_no_answer(level: Level) -> None:
    """The calls are those of the program, and each is said to contradict itself."""
    known = known_of(WRONG.replace("> 10", "> 18"), level)
    forged = {key: msgspec.structs.replace(call, summary=FALSE) for key, call in known.levels[level].items()}
    answers = {}
    for are_believed in (True, False):
        other = chain(level)
        other.resume(KnownCalls({level: forged}, known.numbers), are_believed=are_believed)
        answers[are_believed] = other.verify(program_of(WRONG)).status
    assert answers[True] == "holds"  # so the forgery would have worked
    assert answers[False] == chain(level).verify(program_of(WRONG)).status != "holds"


def forged(level: Level, summary: str, sorts: dict[str, str]) -> BoundedAnswer:
    """The answer about a program that holds, where a text says this of each call."""
    text = HOLDS.replace("> 10", "> 18")
    rows = json.loads(known_calls.write(known_of(text, level)))
    for row in rows["levels"][level]:
        row[4:] = summary, sorts
    known = known_calls.read(json.dumps(rows).encode()) or KnownCalls()
    other = chain(level)
    other.resume(known, are_believed=False)
    return other.verify(program_of(text))


def test_a_forged_summary_costs_few_checks() -> None:
    """Each check breaks one of its conjuncts."""
    many = " ".join(f"(not (= |in:0| {number}.0))" for number in range(200))
    found = forged("lra", f"(and {many})", {"in:0": "Real"})
    assert found.status == "holds"
    assert found.work.checks < 150


def test_functions_that_no_body_has_are_left_out() -> None:
    sorts = dict.fromkeys(("fn!x", "fn!y"), "(_ BitVec 128)")
    found = forged("lra", "(= (bvmul |fn!x| |fn!y|) #x7fffffff8000000fffffffffffff0001)", sorts)
    assert (found.status, found.work.weakened, found.work.invalid) == ("holds", [], [])


def test_what_is_not_validated_is_not_passed_on_as_our_own() -> None:
    """Another level answers, so that nobody validates what was forged for this one."""
    known = known_of(HOLDS, "int")
    other = chain("euf", "int")
    other.resume(KnownCalls({"euf": known.levels["int"]}, known.numbers), are_believed=False)
    assert other.verify(program_of(HOLDS)).level == "int"
    assert other.known.levels["euf"] == {}
    assert other.known.levels["int"]


ROW = b'{"format": "everproof-summaries", "version": 2, "numbers": {}, "levels": {"lra": [["k", "f", %s]]}, "to_bound": {}}'
NUMBERED = b'{"format": "everproof-summaries", "version": 2, "numbers": {%s}, "levels": {}, "to_bound": {}}'


def test_the_texts_below_are_nearly_ours() -> None:
    assert known_calls.read(ROW % b'"00", "", "x", {"x": "Bool"}') is not None
    assert known_calls.read(NUMBERED % b'"f": 1, "main": 0') is not None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        b"[]",
        (NUMBERED % b"").replace(b"2", b"1"),
        NUMBERED % b'"main": 1',
        NUMBERED % b'"main": 0, "f": 0',
        NUMBERED % b'"f": 0',
        NUMBERED % b",".join(b'"%b": %d' % (b"main" if not n else b"f%d" % n, n) for n in range((1 << 16) + 1)),
        ROW % b'"zz", "", null, {}',
        ROW % b'"00", "", "(", {}',
        ROW % b'"00", "", "7", {}',
        ROW % b'"00", "", "x", {"x": "No"}',
    ],
)
def test_what_is_no_text_of_ours_is_not_read(text: bytes) -> None:
    assert known_calls.read(text) is None


CALLS = """
void reach_error(void); int nondet(void);
static int fun(int a) { return a > 3 ? 3 : a; }
int main(void) {
  int n = nondet(), sum = 0;
  sum += fun(n);
  for (int i = 0; i < 2; i++) sum += fun(i);
  if (sum > 6) reach_error();
  return 0;
}
"""


@pytest.mark.parametrize(("old", "new"), [("int n = nondet(), sum = 0;", "int n = nondet(); n = n > 9 ? 9 : n; int sum = 0;")])
def test_calls_keep_their_keys_when_other_lines_change(old: str, new: str) -> None:
    known = known_of(CALLS, "int")
    other = chain("int")
    other.resume(known, are_believed=True)
    found = other.verify(program_of(CALLS.replace(old, new)))
    assert (found.status, found.work.validated) == ("holds", ["main"])
    assert other.known.levels["int"].keys() == known.levels["int"].keys()


DEEP = """
void reach_error(void); int nondet(void);
static int sum(int n) { return n < 1 ? 0 : n + sum(n - 1); }
int main(void) { int n = nondet(); if (n < 9 && sum(n) > 100) reach_error(); return 0; }
"""


def test_the_bodies_that_showed_that_the_bound_leaves_out_runs_are_given_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noted(root: Node, goal: Term, *others: Any, **at_first: Any) -> Implication:
        found = implied(root, goal, *others, **at_first)
        if goal is not_(CUT):
            asked.append(found.checks)
        return found

    monkeypatch.setattr(revision_chain, "implied", noted)
    first = chain("int")
    found = first.verify(program_of(DEEP))
    assert (found.status, found.is_complete) == ("holds", False)
    known = first.known
    assert len(known.to_bound["int"]) == 5  # main, and the calls down to the one that the bound does not follow
    forged = KnownCalls(known.levels, known.numbers, {"int": ["main", "no call", "main/0>t.c::sum/0>t.c::sum"]})
    for text, source, are_believed in ((DEEP.replace("n < 9", "n < 8"), known, True), (DEEP, forged, False)):
        again = chain("int")
        again.resume(source, are_believed=are_believed)
        found = again.verify(program_of(text))
        assert (found.status, found.is_complete) == ("holds", False)
    assert asked[1] == 1 < asked[0]
