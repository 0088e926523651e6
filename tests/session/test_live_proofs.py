"""Proofs over edits, as an editor sees them: what is said while a proof is checked again, what it takes from the last one, what
broke, and what a restart shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.api import Checker
from analysis.certificate.annotation import Annotation
from analysis.engines.predicate.reuse import earlier_proofs
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import RECHECKED, STORED, ProofReuse, Report, RuleVerdict
from analysis.session.portfolio.asking import ask
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About, Kept, Terms
from analysis.session.provers.asking.answer import Decided, Part
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.read_answers import is_to_check, marked_as_kept, without_proofs_to_check
from analysis.smt.logic import smtlib_reading
from analysis.smt.logic.term_building import symbol
from analysis.smt.logic.terms import INT
from analysis.store.database import Store
from tests.support.explorations import program_of
from tests.support.settled import answered

OPTIONS = Options(proofs=True, budget="background", rules=("array-bounds",), limits=Limits(proof_seconds=20.0))
TEXT = """int upto(int n)
{
    int table[8], i = 0;
    if (n < 0 || n > 8)
        return 0;
    while (i < n) {
        table[i] = 0;
        i++;
    }
    return 0;
}
int other(int n) { return n + 1; }
"""
LATER = TEXT.replace("return 0;\n}", "return i;\n}")
BROKEN = TEXT.replace("i++;", "i -= (n == 7) * 2 - 1;")  # only some arguments violate it: runs of the function do not show it


class Editor:
    """One file open in a session."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.path = folder / "a.c"
        self.path.write_text(TEXT)
        self.checker = Checker(OPTIONS, jobs=1, store=store)
        self.checker.open([str(self.path)])
        self._version = 0

    def types(self, text: str) -> tuple[RuleVerdict, Report]:
        """The verdict on the function in the first report, and the report when provers have said all."""
        self._version += 1
        self.path.write_text(text)
        self.checker.change(str(self.path), text, self._version)
        first = verdict(self.checker.check())
        answered(self.checker)
        assert self.checker.report is not None
        return first, self.checker.report

    def leave(self) -> None:
        self.checker.close()
        self.checker.keep_answers()


def verdict(report: Report) -> RuleVerdict:
    return next(one for one in report.functions if one.name == "upto").verdicts["array-bounds"]


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    editor = Editor(tmp_path_factory.mktemp("live"))
    editor.types(TEXT)
    yield editor
    editor.checker.close()


def test_a_proof_is_checked_again_and_says_what_it_took_from_the_last_one(editor: Editor) -> None:
    editor.types(TEXT)
    first, report = editor.types(LATER)
    assert (first.verdict, first.rechecked, first.certified, first.reason) == ("unknown", True, False, RECHECKED)
    after = verdict(report)
    assert (after.verdict, after.certified, after.rechecked) == ("safe", True, False)
    assert after.reused == ProofReuse(1, 1, 1, 0)
    assert report.work.reuse == after.reused


def test_an_earlier_proof_is_looked_at_before_anything_else_is_asked(editor: Editor) -> None:
    editor.types(TEXT)
    checker, text = editor.checker, LATER.replace("return i;", "return i + 1;")
    doubted = [checker.doubted]
    checker.change(str(editor.path), text, 1_000)
    checker.check()
    doubted.append(checker.doubted)
    assert checker.recheck() is None  # nothing is known at once
    assert [*doubted, checker.doubted] == [False, True, False]
    report = None
    while report is None or verdict(report).rechecked:
        checker.wait(None)
        report = checker.take_answers() or report
    assert verdict(report).verdict == "safe"
    assert verdict(report).reused == ProofReuse(1, 1, 1, 0)
    assert checker.unasked  # all the rest is asked later
    answered(checker)
    assert checker.report is not None
    assert verdict(checker.report) == verdict(report)


def test_an_edit_beside_keeps_the_proof_without_a_question(editor: Editor) -> None:
    editor.types(TEXT)
    first, report = editor.types(TEXT.replace("n + 1", "n + 2"))
    assert first.verdict == "safe"
    assert report.work.solver_queries == 0


def test_what_broke_is_said_and_where(editor: Editor) -> None:
    editor.types(TEXT)
    first, report = editor.types(BROKEN)
    assert first.rechecked
    after = verdict(report)
    assert (after.verdict, after.rechecked, after.reused) == ("unknown", False, None)
    assert after.broken == f"after {editor.path}:8 (i -= (n == 7) * 2 - 1) `i >= 0` does not hold"
    again = editor.types(BROKEN.replace("n + 1", "n + 3"))[0]
    assert again.broken == after.broken


def test_going_back_costs_nothing(editor: Editor) -> None:
    editor.types(TEXT)
    editor.types(LATER)
    _, report = editor.types(TEXT)
    assert verdict(report).verdict == "safe"
    assert report.work.solver_queries == 0


# -- the store ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, where a session has proved the text, and tried the broken one."""
    folder = tmp_path_factory.mktemp("left")
    editor = Editor(folder, Store(str(folder / "store")))
    editor.types(BROKEN)
    editor.leave()
    editor = Editor(folder, Store(str(folder / "store")))
    editor.types(TEXT)
    editor.leave()
    return folder


def test_a_restart_shows_what_was_proved_and_checks_it_again(left: Path) -> None:
    editor = Editor(left, Store(str(left / "store")))
    first, report = editor.types(TEXT)
    assert (first.verdict, first.rechecked, first.certified, first.reason) == ("unknown", True, False, STORED)
    after = verdict(report)
    assert (after.verdict, after.reused) == ("safe", ProofReuse(1, 1, 1, 0))
    editor.checker.close()


def test_a_proof_in_the_place_of_another_is_not_believed(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store says of the broken text what it says of the other one."""
    real = Decisions.get

    def get(self: Decisions, keys: object) -> dict[str, Decided]:
        found = real(self, keys)  # type: ignore[arg-type]
        proof = next(iter(known for key in self._saved() if (known := real(self, (key,)).get(key)) and known.kept), None)
        return {key: one if self.is_own(key) or proof is None or one.kept else proof for key, one in found.items()}

    monkeypatch.setattr(Decisions, "get", get)
    editor = Editor(left, Store(str(left / "store")))
    _, report = editor.types(BROKEN)
    assert verdict(report).verdict == "unknown"
    editor.checker.close()


def test_proofs_that_were_found_with_runs_are_checked_again_as_those_of_the_program() -> None:
    kept, marked = Part("assertion", "refuted", certified=True, kept=b"proof"), Part("shift-range", "refuted", kept=b"")
    tree = Part("memory-leak", "refuted", certified=True)
    read = Decided("possible", parts=(marked_as_kept(kept), marked, tree))
    assert without_proofs_to_check(read).parts == (tree,)
    assert not is_to_check(read)
    assert is_to_check(Decided("refuted", certified=True, kept=b"forged"))


COUNTED = """void reach_error(void);
int upto(int n)
{
    int i = 0;
    if (n < 0)
        return 0;
    while (i < n)
        i++;
    if (i != n)
        reach_error();
    return 0;
}
"""
SAFE, WRONG = program_of(COUNTED), program_of(COUNTED.replace("i++", "i += 2"))


def asked(program: object, kept: bytes, seconds: float = 3.0) -> object:
    about, terms = About("function", ("assertion",), "upto"), Terms(engine="value")
    request = Request(program, ("upto",), about, False, terms, Kept(kept))  # type: ignore[arg-type]
    return ask(request, seconds).by_rule["assertion"]


@pytest.fixture(scope="module")
def kept() -> bytes:
    request = Request(SAFE, ("upto",), About("function", ("assertion",), "upto"), False, Terms(engine="predicate"))
    found = ask(request, 10.0).by_rule["assertion"]
    assert isinstance(found, Proved)
    assert found.kept is not None
    return found.kept


def test_what_is_kept_proves_with_an_engine_that_finds_no_proof(kept: bytes) -> None:
    assert not isinstance(asked(SAFE, b"", 0.5), Proved)
    found = asked(SAFE, kept)
    assert isinstance(found, Proved)
    assert all(isinstance(one, Annotation) for one in found.certificates)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_whatever_is_kept_a_wrong_program_is_not_proved(kept: bytes, data: st.DataObject) -> None:
    """Bytes that were changed, cut, or are of what an attacker packs."""
    changed = bytearray(kept)
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    assert not isinstance(asked(WRONG, bytes(changed), 0.5), Proved)


@pytest.mark.parametrize("said", ["true", "false", "(<= |0:i| |0:n|)", "(= |0:i| |0:n|)", "(<= |0:i| 0)"])
def test_a_certificate_that_was_made_up_is_not_believed(kept: bytes, said: str) -> None:
    read = earlier_proofs.read(kept)
    assert read is not None
    (annotation,) = read.annotations
    term = smtlib_reading.read(said, {name: symbol(name, INT) for name in ("0:i", "0:n")})
    made = msgspec.structs.replace(annotation, assertions=dict.fromkeys(annotation.assertions, term))
    packed = earlier_proofs.write(WRONG, [made], "LP64")
    assert packed is not None
    assert not isinstance(asked(WRONG, packed, 0.5), Proved)
