"""Findings that the checker holds back: known and counted by the server, and not published."""

from __future__ import annotations

import msgspec
from lsprotocol import types

from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding, FunctionReport, RuleVerdict, TraceStep
from analysis.wire import FileResult
from server.convert import Converter
from server.documents import Document, OpenDocuments
from server.features.code_lens import lens_command
from server.features.hover import describe
from server.results import FileState, Results
from server.status import Statuses

PATH = "/w/a.c"


def place(line: int) -> Place:
    return Place(PATH, Range(Position(line, 1), Position(line, 4)))


def finding(name: str, *, score: int, shown: bool, status: str = "possible") -> Finding:
    fields = {"rule": "double-free", "status": status, "severity": "error", "message": "freed twice", "function": name}
    return Finding(**fields, place=place(2), fingerprint=name, trace=(), score=score, reasons=("because",), shown=shown)  # type: ignore[arg-type]


def known(*findings: Finding) -> tuple[Results, Converter, Document, FileState]:
    documents = OpenDocuments("file:///w")
    documents.put_text_document(types.TextDocumentItem(f"file://{PATH}", "c", 1, "one\ntwo\nthree\n"))
    document = documents.at_path(PATH)
    assert document is not None
    document.sent(1)
    results = Results(documents)
    verdicts = {"double-free": RuleVerdict("violated", None, (), "automaton")}
    functions = tuple(FunctionReport(one.function, place(1), verdicts) for one in findings)
    state = results.apply(FileResult(1, PATH, 1, findings, functions, ()))
    assert state is not None
    return results, Converter(documents), document, state


def test_it_is_not_published_and_counted() -> None:
    results, converter, document, _ = known(
        finding("f", score=70, shown=True), finding("g", score=30, shown=False), finding("h", score=100, shown=False)
    )
    [published] = converter.diagnostics(results, PATH, unknown_hints=False)
    assert published.data["fingerprint"] == "f"
    assert (published.data["score"], published.data["reasons"]) == (70, ["because"])
    status = Statuses(results, converter).payload(document, "idle", None)
    assert status["heldBack"] == 2
    assert results.finding("g") is not None


def test_where_all_are_asked_for_it_is_a_hint() -> None:
    results, converter, _, _ = known(
        finding("f", score=70, shown=True),
        finding("g", score=30, shown=True),
        finding("h", score=100, shown=True, status="confirmed"),
    )
    levels = {one.data["fingerprint"]: one.severity for one in converter.diagnostics(results, PATH, unknown_hints=False)}
    severity = types.DiagnosticSeverity
    assert levels == {"f": severity.Warning, "g": severity.Hint, "h": severity.Error}


def test_the_lens_says_so_where_that_is_asked_for() -> None:
    _, _, _, state = known(finding("f", score=70, shown=True), finding("g", score=30, shown=False))
    lenses = [lens_command(function, state, "uri", show_unknown=True) for function in state.functions]
    titles = [lens.title for lens in lenses if lens is not None]
    assert titles == ["⚠ possible: double-free", "? held back: double-free"]


def test_three_words_say_what_is_known_and_a_finding_held_back_is_never_proved() -> None:
    results, converter, document, state = known(
        finding("f", score=70, shown=True),
        finding("g", score=30, shown=False),
        finding("h", score=100, shown=True, status="confirmed"),
    )
    status = Statuses(results, converter).payload(document, "idle", None)
    assert [(f["name"], f["verdict"], f["standing"]) for f in status["functions"]] == [
        ("f", "violated", "possible"),
        ("g", "violated", "unknown"),
        ("h", "violated", "confirmed"),
    ]
    lenses = [lens_command(function, state, "uri") for function in state.functions]
    hovers = [describe(function, None, None, findings=state.findings) for function in state.functions]
    assert hovers == [
        "**f**: ⚠ possible: double-free",
        "**g**",
        "**h**: ✗ confirmed: double-free",
    ]
    assert [lens and lens.title.split(":")[0] for lens in lenses] == ["⚠ possible", None, "✗ confirmed"]


def test_the_message_says_why_a_finding_is_not_decided() -> None:
    open_one = msgspec.structs.replace(finding("f", score=70, shown=True), reason="from the entry of f it happens with p == NULL")
    results, converter, _, _ = known(open_one)
    [published] = converter.diagnostics(results, PATH, unknown_hints=False)
    assert published.message == f"{open_one.message}\nNot decided: from the entry of f it happens with p == NULL"


def test_the_steps_that_explain_a_finding_are_related_to_it() -> None:
    trace = tuple(TraceStep(place(2), "f", 0, "branch", text) for text in "abcd")
    sliced = msgspec.structs.replace(
        finding("f", score=70, shown=True), trace=trace, explaining=(0, 2, 3), since="`p = NULL`", message="wrong"
    )
    results, converter, _, _ = known(sliced)
    [published] = converter.diagnostics(results, PATH, unknown_hints=False)
    assert [related.message for related in published.related_information or ()] == ["a", "c", "d"]
    assert published.message == "wrong (since `p = NULL`)"
