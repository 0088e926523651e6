"""A repair that takes too much work is given up, and the revision is verified from nothing: the answer is that from scratch."""

from __future__ import annotations

import pytest

from analysis.cfa.linking.link import link
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.validation import Validator
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
