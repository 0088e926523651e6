"""Similarity flooding beside the alignment in the order of the text."""

from __future__ import annotations

from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Cfa, Program
from analysis.cfa.revisions.location_map import program_map
from analysis.cfa.revisions.match import fingerprint
from analysis.cfa.revisions.similarity_flooding import by_flooding
from tests.support.explorations import program_of
from tests.support.lowered import cfa_of
from tests.support.random_c import program
from tests.support.revised_c import revised

PAPERS = Path(__file__).parents[2] / "fixtures" / "programs" / "papers"
LOOPS = "int f(int a) {{ int i = 0; {0} while (i < a) {{ i++; {1} }} while (i > 0) {{ i--; {2} }} return i; }}"


def paper(name: str) -> Program:
    return program_of((PAPERS / f"{name}.c").read_text("utf-8"))


def loops(*inserted: str) -> Cfa:
    return cfa_of(LOOPS.format(*(*inserted, "", "", "")[:3]))


@given(st.integers(0, 1_000_000))
@settings(deadline=None, max_examples=8)
def test_a_matching_pairs_equal_operations_once_and_the_same_program_with_itself(seed: int) -> None:
    random = Random(seed)
    text = program(random, indices=False)
    old, new = program_of(text), program_of(revised(text, random))
    for name, cfa in new.functions.items():
        before = old.functions.get(name)
        pairs = [] if before is None else by_flooding(cfa, before)
        assert len({mine for mine, _ in pairs}) == len({theirs for _, theirs in pairs}) == len(pairs)
        for mine, theirs in pairs:
            assert before is not None
            assert fingerprint(cfa.edges[mine]) == fingerprint(before.edges[theirs])
    assert program_map(old, program_of(text), by_flooding).changed_edges == 0


def test_a_statement_before_a_loop_leaves_the_head_of_the_loop_what_it_was() -> None:
    old, new = loops(), loops("a = 7;")
    pairs = {(new.edges[mine].source, old.edges[theirs].source) for mine, theirs in by_flooding(new, old)}
    assert {(_head(new), _head(old))} <= pairs


def _head(cfa: Cfa) -> int:
    """The head of the first loop."""
    return next(edge.target for edge in cfa.edges if _is_head(cfa, edge.target))


def _is_head(cfa: Cfa, location: int) -> bool:
    return any(
        edge.target == location and cfa.reverse_postorder[edge.source] >= cfa.reverse_postorder[location] for edge in cfa.edges
    )


def test_the_example_of_the_paper() -> None:
    """Example 4.2: the old loop is found in the new version, and what was inserted is the delta."""
    new, old = paper("ipa-fig2-second"), paper("ipa-fig2-first")
    flooded, ordered = program_map(new, old, by_flooding), program_map(new, old)
    assert 0 < flooded.changed_edges <= ordered.changed_edges
