"""Which results count, and where they are shown when the text has moved on."""

from __future__ import annotations

import msgspec
from lsprotocol import types

from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding, TraceStep
from analysis.wire import FileResult
from server.documents import Document, OpenDocuments
from server.results import Results

A, B = "/w/a.c", "/w/b.c"


def opened(documents: OpenDocuments, path: str, generation: int) -> Document:
    documents.put_text_document(types.TextDocumentItem(f"file://{path}", "c", 1, "one\ntwo\nthree\n"))
    document = documents.at_path(path)
    assert document is not None
    document.sent(generation)
    return document


def line_added(results: Results, document: Document, version: int) -> None:
    start = types.Position(0, 0)
    document.apply_change(types.TextDocumentContentChangePartial(range=types.Range(start, start), text="\n"))
    document.version = version
    results.edited(document.file_path, document.take_edits())


def place(path: str, line: int) -> Place:
    return Place(path, Range(Position(line, 1), Position(line, 4)))


def result(generation: int, version: int | None, path: str = A, also_in: str = A) -> FileResult:
    step = TraceStep(place(also_in, 1), "f", 0, "entry", "f()")
    finding = Finding("double-free", "possible", "error", "freed twice", place(path, 2), "f", "print", (step,))
    return FileResult(generation, path, version, (finding,), (), ())


def lines_of(results: Results) -> list[int]:
    return [finding.place.range.start.line for state in results.states() for finding in state.findings]


def test_what_a_file_shows_by_itself_counts_until_more_is_known() -> None:
    documents = OpenDocuments("file:///w")
    results = Results(documents)
    document = opened(documents, A, generation=1)
    alone = msgspec.structs.replace(result(2, 1), alone=True)
    assert results.apply(alone) is not None
    line_added(results, document, 2)
    document.sent(3)
    later = results.apply(msgspec.structs.replace(alone, generation=4, version=2, findings=()))
    assert later is not None, "the newer text, by itself again"
    assert (later.findings, later.stale) == ((), "the rest of the program is being read")
    assert results.apply(result(5, 2)) is not None
    assert results.apply(msgspec.structs.replace(alone, generation=6, version=2)) is None


def test_a_result_of_the_current_version_is_current() -> None:
    documents = OpenDocuments("file:///w")
    results = Results(documents)
    opened(documents, A, generation=1)
    state = results.apply(result(2, 1))
    assert state is not None
    assert state.stale is None
    assert lines_of(results) == [2]


def test_a_result_of_an_earlier_version_is_moved_and_stale_until_a_check_confirms_the_newer() -> None:
    documents = OpenDocuments("file:///w")
    results = Results(documents)
    document = opened(documents, A, generation=1)
    line_added(results, document, 2)
    state = results.apply(result(2, 1))
    assert state is not None
    assert state.stale == "edited since"
    assert lines_of(results) == [3]
    assert results.confirm(2) == []
    document.sent(3)
    assert results.confirm(4) == [A]
    assert state.stale is None


def test_results_of_the_disk_of_a_closed_document_and_of_an_earlier_opening_do_not_count() -> None:
    documents = OpenDocuments("file:///w")
    results = Results(documents)
    assert results.apply(result(2, 1)) is None, "closed"
    opened(documents, A, generation=5)
    assert results.apply(result(4, None)) is None, "of the disk"
    assert results.apply(result(4, 1)) is None, "of an earlier opening, with the same version"
    assert results.apply(result(5, 1)) is not None


def test_a_trace_through_another_document_moves_with_that_one() -> None:
    documents = OpenDocuments("file:///w")
    results = Results(documents)
    opened(documents, A, generation=1)
    other = opened(documents, B, generation=2)
    line_added(results, other, 2)
    results.apply(result(3, 1, also_in=B))
    (finding,) = results.states()[0].findings
    assert finding.trace[0].place.range.start.line == 2, "the result is older than the edit of b.c"
    line_added(results, other, 3)
    (finding,) = results.states()[0].findings
    assert finding.trace[0].place.range.start.line == 3
    assert results.states()[0].moved
    assert lines_of(results) == [2]


def test_a_header_named_from_elsewhere_is_the_file_that_is_open() -> None:
    documents = OpenDocuments("file:///w")
    results = Results(documents)
    opened(documents, A, generation=1)
    state = results.apply(result(2, 1, path="/w/sub/../a.c"))
    assert state is not None
    assert state is results.state(A)
    assert state.findings[0].place.path == A
