"""A certificate of one program, with the digest of another one put in its place, proves nothing of what that one violates. One of
runs from `main` is no proof where runs begin elsewhere as well."""

from __future__ import annotations

import pytest

from analysis.certificate import text
from analysis.cfa.graph import Program
from analysis.cli.certifying import ACCEPTED, PARTIAL, REFUSED, judged
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model.options import Options
from analysis.model.spelling import display_name
from analysis.session.portfolio import ownership_proofs, required_proofs
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About
from tests.support.breaking_edits import BREAKS, Break
from tests.support.explorations import program_of

_PLAIN = [one for one in BREAKS if len(one.files(after=False)) == 1 and "#" not in one.text]


def _certificates(program: Program, shown: str, rule: str) -> list[text.Certified]:
    function = next(name for name in program.functions if display_name(name) == shown)
    entries = ("main",) if "main" in program.functions else (function,)
    request = Request(program, entries, About("function", (rule,), function), whole="main" in program.functions)
    answers = (module.prove(request, 100.0, Cancellation()) for module in (required_proofs, ownership_proofs))
    return [one for answer in answers if isinstance(answer, Proved) for one in answer.certificates]


@pytest.mark.parametrize("edit", _PLAIN, ids=lambda edit: edit.name)
def test_a_certificate_with_the_digest_of_another_program_is_refused(edit: Break, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = (program_of(edit.files(after=later)["a.c"]) for later in (False, True))
    found = _certificates(before, edit.function, edit.rule)
    for one in found:
        assert judged(before, Options(), text.write([one], before, "LP64").encode()) in (ACCEPTED, PARTIAL)
        assert judged(after, Options(), text.write([one], after, "LP64").encode()) == REFUSED
    capsys.readouterr()


def test_most_of_these_have_one() -> None:
    proved = [one for one in _PLAIN if _certificates(program_of(one.files(after=False)["a.c"]), one.function, one.rule)]
    assert len(proved) >= 8


def test_a_proof_of_runs_from_main_is_not_one_of_other_entries(capsys: pytest.CaptureFixture[str]) -> None:
    program = program_of("int use(int *p) { return *p; } int main(void) { int n = 1; return use(&n); }")
    found = [one for name in ("use", "main") for one in _certificates(program, name, "null-dereference")]
    data = text.write(found, program, "LP64").encode()
    assert judged(program, Options(rules=("null-dereference",)), data) in (ACCEPTED, PARTIAL)
    capsys.readouterr()
    assert judged(program, Options(entries=("main", "use")), data) == PARTIAL
    assert "in runs from entries other than main" in capsys.readouterr().out
