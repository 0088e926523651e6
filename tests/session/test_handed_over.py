"""What one machine hands over to another: shown at once, believed only when the checker has found it again."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from analysis.api import Checker
from analysis.cli.handing_over import export, take
from analysis.model.digest import digest_text
from analysis.model.distribution import everproof_version
from analysis.model.options import Options
from analysis.model.places import Place, Position, Range
from analysis.model.report import (
    ELSEWHERE,
    IF_KEPT,
    FileReport,
    Finding,
    FunctionReport,
    ProofReuse,
    Report,
    RuleVerdict,
    Times,
    TraceStep,
    Within,
    Work,
)
from analysis.session.keeping import handed_over
from analysis.session.keeping.handed_over import (
    HandedOver,
    HandedOverError,
    HandedProgram,
    HandedProof,
    packed,
    read_handed_over,
    report_of,
    unbelieved,
    unpacked,
)
from analysis.session.provers.asking.kept_answers import Decisions, handed_proofs, take_in
from analysis.store.database import Store
from analysis.wire import Check, Configure, Event, FileResult
from analysis.worker.service import Service
from tests.session.test_live_proofs import OPTIONS, TEXT, Editor, verdict
from tests.support.settled import answered

FILES = 6
PART = "int bug{0}(void)\n{{\n    int *p = 0;\n    return *p;\n}}\n"
VERSION = everproof_version()
SPOT = Range(Position(4, 5), Position(4, 7))


def found(path: str = "a.c", elsewhere: str = "a.c") -> Report:
    """A report that claims as much as one can."""
    steps = (TraceStep(Place(elsewhere, SPOT), "f", 0, "error", "*p"),)
    finding = Finding("null-dereference", "confirmed", "error", "p is NULL", Place(path, SPOT), "f", "1", steps)
    safe = RuleVerdict("safe", None, (), "value", certified=True, certificate="c.json")
    functions = (FunctionReport("g", Place(path, SPOT), {"null-dereference": safe}),)
    return Report("safe", (FileReport(path, 1, 0),), functions, (finding,), (), Work(), Times())


def handed(report: Report | None = None, files: dict[str, str] | None = None, **more: object) -> HandedOver:
    program = HandedProgram({"a.c": "1"} if files is None else files, report or found())
    return msgspec.structs.replace(HandedOver(VERSION, (program,), ()), **more)  # type: ignore[arg-type]


def test_nothing_that_is_handed_over_is_proved_or_confirmed() -> None:
    report = report_of(unpacked(packed(handed())), "/w", ["/w/a.c"], lambda _: "1")
    assert report is not None
    [finding] = report.findings
    assert (finding.status, finding.place.path, finding.run) == ("possible", "/w/a.c", None)
    [given] = report.functions[0].verdicts.values()
    assert (given.verdict, given.reason, given.certified, given.certificate) == ("unknown", ELSEWHERE, False, None)
    assert report.verdict == "violated"


@pytest.mark.parametrize(
    ("claim", "is_left"),
    [
        (RuleVerdict("unknown", f"{IF_KEPT}`s != NULL`", (), "value"), False),
        (RuleVerdict("unknown", "nothing to prove", (), "value", no_place=True), False),
        (RuleVerdict("unknown", "nothing calls it", (), "value", unreached=True), False),
        (RuleVerdict("unknown", "longer runs", (), "summary", within=Within(3, True, False, "x")), False),
        (RuleVerdict("unknown", "its loops have no end", (), "value", certified=True, certificate="/etc/x"), True),
    ],
)
def test_no_verdict_that_is_handed_over_says_that_something_holds(claim: RuleVerdict, is_left: bool) -> None:
    function = FunctionReport("g", Place("a.c", SPOT), {"null-dereference": claim})
    given = unbelieved(msgspec.structs.replace(found(), functions=(function,))).functions[0].verdicts["null-dereference"]
    assert given == RuleVerdict("unknown", claim.reason if is_left else ELSEWHERE, (), claim.engine, rechecked=not is_left)


def test_it_counts_for_the_same_texts_of_the_same_program_only() -> None:
    one = handed()
    assert report_of(one, "/w", ["/w/a.c"], lambda _: "2") is None
    assert report_of(one, "/w", ["/w/a.c"], lambda _: None) is None
    assert report_of(one, "/w", ["/w/a.c", "/w/b.c"], lambda _: "1") is None
    assert report_of(one, "/other", ["/w/a.c"], lambda _: "1") is None


@pytest.mark.parametrize("name", ["/etc/passwd", "../a.c", "b/../../a.c", "b/../a.c", "", "a\0.c", "./a.c"])
def test_a_path_leads_nowhere_outside_of_the_workspace(name: str) -> None:
    with pytest.raises(HandedOverError, match="names a file outside of the folder"):
        unpacked(packed(handed(files={name: "1"})))
    report = report_of(handed(found(elsewhere=name)), "/w", ["/w/a.c"], lambda _: "1")
    assert report is not None
    assert report.findings[0].trace == ()
    report = report_of(handed(msgspec.structs.replace(found(name), files=found().files)), "/w", ["/w/a.c"], lambda _: "1")
    assert report is not None
    assert (report.findings, report.functions) == ((), ())


def test_what_is_no_such_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = packed(handed())

    def wrong(data: bytes) -> bytes:
        return handed_over._MAGIC + digest_text(data).encode() + b"\n" + zlib.compress(data)

    for file, why in (
        (b"", "no file that"),
        (b"SQLite format 3\0", "no file that"),
        (whole[:-5], "damaged"),
        (whole[:-5] + b"12345", "damaged"),
        (whole + b"more", "damaged"),
        (wrong(b"\x93" * 100_000), "damaged"),
        (wrong(b"\x81" * 100_000), "damaged"),
        (wrong(msgspec.msgpack.encode({"everproof": VERSION, "programs": [{"files": 3}], "proofs": []})), "damaged"),
        (packed(handed(everproof="9" * 10_000)), "version '9{20}' of Everproof"),
        (packed(handed(proofs=(HandedProof("../../x", b""),))), "names a file outside of the folder"),
        (packed(handed(proofs=(HandedProof("0" * 32, at="x"),))), "names a file outside of the folder"),
    ):
        with pytest.raises(HandedOverError, match=why) as error:
            unpacked(file)
        assert len(str(error.value)) < 200
    monkeypatch.setattr(handed_over, "HANDED_OVER_UNPACKED", 1_000)  # a bomb: a thousand times larger than it looks
    with pytest.raises(HandedOverError, match="too large"):
        unpacked(wrong(bytes(1_000_000)))
    with pytest.raises(HandedOverError, match="a folder"):
        read_handed_over(str(tmp_path))


# -- from one machine to another ------------------------------------------------------------------------------------


def written(folder: Path) -> Path:
    folder.mkdir()
    (folder / "compile_commands.json").write_text("[]")  # the top of the workspace
    for number in range(FILES):
        (folder / f"{number}.c").write_text(PART.format(number))
    return folder


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What a check of one folder hands over."""
    folder = written(tmp_path / "ci")
    monkeypatch.chdir(folder)
    store = Store(str(tmp_path / "ci.everproof"))
    checker = Checker(Options(engine="automaton"), store=store)
    checker.open([f"{number}.c" for number in range(FILES)])
    checker.check()
    checker.save()
    assert export(store, str(tmp_path / "handed")) == 0
    yield tmp_path / "handed"
    store.close()


def opened(folder: Path, store: str) -> list[FileResult]:
    """What an editor is told that opens a folder."""
    events: list[Event] = []
    service = Service(events.append, lambda: False)
    service.accept(Configure(1, Options(engine="automaton"), (str(folder),), store))
    service.accept(Check(2, ()))
    service.work()
    service.close()
    return [event for event in events if isinstance(event, FileResult) and event.path.endswith((".c", ".h"))]


def test_another_machine_shows_it_at_once_and_then_what_it_finds_itself(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = written(tmp_path / "there")
    monkeypatch.chdir(there)
    store = str(tmp_path / "mine.everproof")
    assert take(Store(store), str(file)) == 0
    results = opened(there, store)
    early, late = results[:FILES], results[FILES:]
    assert all(result.handed_over and result.alone for result in early)
    assert [len(result.findings) for result in early] == [1] * FILES
    assert {result.findings[0].place.path for result in early} == {str(there / f"{number}.c") for number in range(FILES)}
    assert len(late) == FILES
    assert not any(result.handed_over or result.alone for result in late)
    assert {result.findings[0].fingerprint for result in late} == {result.findings[0].fingerprint for result in early}


def test_what_is_not_found_here_goes_away(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = written(tmp_path / "there")
    monkeypatch.chdir(there)
    lied = read_handed_over(str(file))
    [program] = lied.programs
    (there / "h.h").write_text("int x;\n")
    lie = msgspec.structs.replace(program.report.findings[0], place=Place("h.h", SPOT), fingerprint="lie")
    report = msgspec.structs.replace(program.report, findings=(lie,))
    digest = digest_text((there / "h.h").read_bytes())
    file.write_bytes(packed(HandedOver(VERSION, (HandedProgram({**program.files, "h.h": digest}, report),), ())))
    store = str(tmp_path / "mine.everproof")
    take(Store(store), str(file))
    in_header = [result for result in opened(there, store) if result.path.endswith("h.h")]
    assert [(result.handed_over, len(result.findings)) for result in in_header] == [(True, 1), (False, 0)]


def test_of_other_texts_nothing_is_shown(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = written(tmp_path / "there")
    monkeypatch.chdir(there)
    (there / "0.c").write_text("int changed;\n")
    store = str(tmp_path / "mine.everproof")
    take(Store(store), str(file))
    assert not any(result.handed_over for result in opened(there, store))


def test_a_proof_is_no_answer_and_counts_when_its_certificate_is_accepted(tmp_path: Path) -> None:
    for name in ("ci", "there"):
        (tmp_path / name).mkdir()
    ci = Editor(tmp_path / "ci", Store(str(tmp_path / "ci.everproof")))
    ci.types(TEXT)
    ci.leave()
    proofs = handed_proofs(Store(str(tmp_path / "ci.everproof")))
    folder, store = tmp_path / "there", Store(str(tmp_path / "mine.everproof"))
    assert take_in(store, str(folder), proofs)
    decisions = Decisions(store)
    decisions.open(("folder", str(folder)))
    read = decisions.get(one.key for one in proofs).values()
    assert {(one.status, one.final, one.certified) for one in read} == {("possible", False, False)}
    (folder / "a.c").write_text(TEXT)
    checker = Checker(OPTIONS, store=store)
    checker.open_workspace(str(folder))
    checker.change(str(folder / "a.c"), TEXT, 1)  # provers are asked about open files
    assert verdict(checker.check()).verdict == "unknown"
    answered(checker)
    assert checker.report is not None
    after = verdict(checker.report)
    assert (after.verdict, after.certified, after.reused) == ("safe", True, ProofReuse(1, 1, 1, 0))
    checker.close()
