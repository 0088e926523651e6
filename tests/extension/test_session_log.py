"""The strict reader of sessions, on sessions that break each of its rules."""

from __future__ import annotations

from typing import Any

import pytest
from e2e.session_log import read

URI = "file:///a.c"


def client(method: str, number: int | None = None, **params: Any) -> dict[str, Any]:
    return entry("client", method, number, params)


def server(method: str, number: int | None = None, **params: Any) -> dict[str, Any]:
    return entry("server", method, number, params)


def entry(sender: str, method: str, number: int | None, params: dict[str, Any]) -> dict[str, Any]:
    asked = {} if number is None else {"id": number}
    return {"time": 0.0, "from": sender, "message": {"method": method, "params": params, **asked}}


def answer(sender: str, number: int) -> dict[str, Any]:
    return {"time": 0.0, "from": sender, "message": {"id": number, "result": None}}


def opened(version: int = 1) -> dict[str, Any]:
    return client("textDocument/didOpen", textDocument={"uri": URI, "version": version, "text": ""})


def changed(version: int) -> dict[str, Any]:
    return client("textDocument/didChange", textDocument={"uri": URI, "version": version}, contentChanges=[{"text": "x"}])


def closed() -> dict[str, Any]:
    return client("textDocument/didClose", textDocument={"uri": URI})


def published(version: int | None) -> dict[str, Any]:
    return server("textDocument/publishDiagnostics", uri=URI, version=version, diagnostics=[])


def reported(version: int) -> dict[str, Any]:
    return server("everproof/status", uri=URI, version=version)


def progress(kind: str) -> dict[str, Any]:
    return server("$/progress", token="t", value={"kind": kind})


CREATED = server("window/workDoneProgress/create", 1, token="t")
SEEN = [client("x", 7), answer("server", 7)]  # by its answer the server has seen all that came before

GOOD = {
    "versions that grow": [
        opened(),
        published(1),
        reported(1),
        changed(2),
        published(1),
        reported(1),
        changed(3),
        published(3),
        reported(3),
    ],
    "closed and opened again": [opened(5), published(5), closed(), published(None), opened(1), *SEEN, published(1), reported(1)],
    "on its way when it was closed": [opened(), closed(), published(1), reported(1), *SEEN, published(None)],
    "on its way when it was opened": [opened(), published(None), *SEEN, published(1)],
    "never open": [published(None), published(None)],
    "a progress": [CREATED, answer("client", 1), progress("begin"), progress("report"), progress("end")],
    "both use the same number": [client("a", 1), server("b", 1), answer("client", 1), answer("server", 1)],
}
BAD = {
    "a change that does not raise the version": ([opened(2), changed(2)], "is changed to version 2 after 2"),
    "diagnostics that fall back": ([opened(), changed(2), published(2), published(1)], "at version 1 after 2"),
    "diagnostics that run ahead": ([opened(), published(2)], "at version 2, which is only at 1"),
    "a status that falls back": (
        [opened(), changed(2), reported(2), reported(1)],
        "a status of file:///a.c at version 1 after 2",
    ),
    "diagnostics of a closed document": ([opened(), closed(), *SEEN, published(1)], "which is not open, at version 1"),
    "a status of a closed document": ([opened(), closed(), *SEEN, reported(1)], "a status of file:///a.c, which is not open"),
    "no version though it is open": ([opened(), *SEEN, published(None)], "which is open, without a version"),
    "a request without an answer": ([client("a", 1)], "a (client's 1, line 1) was never answered"),
    "an answer that nobody asked for": ([answer("server", 4)], "an answer to 4, which client did not ask"),
    "two answers": ([client("a", 1), answer("server", 1), answer("server", 1)], "an answer to 1"),
    "a number used twice": ([client("a", 1), client("b", 1), answer("server", 1)], "asks with the number 1 twice"),
    "a progress that never ends": ([CREATED, answer("client", 1), progress("begin")], "progress t began and never ended"),
    "a progress that was not created": ([progress("begin")], "progress t: begin, though it was not created"),
    "a report after the end": (
        [CREATED, answer("client", 1), progress("begin"), progress("end"), progress("report")],
        "progress t: report, though it ended",
    ),
    "opened twice": ([opened(), opened()], "is opened twice"),
    "closed and not open": ([closed()], "is closed and was not open"),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_session_that_keeps_the_rules_has_no_breach(name: str) -> None:
    reading = read(GOOD[name])
    assert reading.breaches == []
    assert sum(reading.seen.values()) == len(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_a_session_that_breaks_a_rule_is_caught(name: str) -> None:
    entries, words = BAD[name]
    breaches = read(entries).breaches
    assert breaches
    assert words in breaches[0]
