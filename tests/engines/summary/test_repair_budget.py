"""A repair that takes too much work is given up, and the revision is verified from nothing: the answer is that from scratch."""

from __future__ import annotations

import pytest

from analysis.cfa.linking.link import link
from analysis.engines.summary.bounded_answer import Level
from analysis.engines.summary.call_tree import CallTree, Node
from analysis.engines.summary.level_chain import LEVELS, LevelChain
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.substitution_schemes import Summaries
from analysis.engines.summary.validation import Validated, Validator
from analysis.model import clock
from tests.support.lowered import unit_of

_TEXT = """
void reach_error(void);
int twice(int n) { return 2 * n; }
int larger(int n) { return twice(n) + 1; }
int main(void) { int n = 3; if (larger(n) < n) reach_error(); return 0; }
"""
_EDITS = [("2 * n", "3 * n"), ("+ 1", "+ 2"), ("larger(n) < n", "larger(n) == 8")]


@pytest.mark.parametrize("edit", _EDITS)
def test_a_repair_that_is_given_up_changes_no_answer(edit: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (link([unit_of(text)]).program for text in (_TEXT, _TEXT.replace(*edit)))
    scratch = RevisionChain(ChainOptions()).verify(new)
    chain = RevisionChain(ChainOptions())
    assert chain.verify(old).status == "holds"
    asked: list[float] = []
    validate = Validator.validate

    def without_work(self: Validator, *arguments: object) -> object:
        asked.append(clock.left())
        with clock.within(0.0 if len(asked) == 1 else 1_000.0):  # the first one is the repair
            return validate(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Validator, "validate", without_work)
    found = chain.verify(new)
    assert len(asked) == 2
    assert asked[0] <= ChainOptions().milliseconds / 1000 * clock.SECOND
    assert (found.status, found.is_complete) == (scratch.status, scratch.is_complete)


@pytest.mark.parametrize("levels", [("int",), LEVELS])
def test_a_repair_leaves_time_to_begin_anew(levels: tuple[Level, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the answer has no more time than one question, as in the command; and each level leaves some to the next."""
    old, new = (link([unit_of(text)]).program for text in (_TEXT, _TEXT.replace("2 * n", "3 * n")))
    options = ChainOptions(milliseconds=4_000)
    chain = LevelChain(options, levels)
    assert chain.verify(old).status == "holds"
    validate = Validator.validate

    def with_all_work(self: Validator, tree: CallTree, changed: list[Node], summaries: Summaries) -> Validated:
        if len(summaries) > 1:  # a repair
            clock.work(int(clock.left()))
        return validate(self, tree, changed, summaries)

    monkeypatch.setattr(Validator, "validate", with_all_work)
    with clock.within(4.0):
        found = chain.verify(new)
    assert (found.status, found.is_complete) == ("holds", True)
