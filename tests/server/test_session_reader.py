"""The reader of session logs, which `make e2e` trusts, sees each breach of its rules, and none where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from e2e.session_log import read

URI = "file:///w/a.c"
Entry = tuple[str, dict[str, Any]]


def said(sender: str, method: str, params: Any, number: int | None = None) -> Entry:
    return sender, {"method": method, "params": params} | ({} if number is None else {"id": number})


def answer(sender: str, number: int, result: Any = None) -> Entry:
    return sender, {"id": number, "result": result}


def document(version: int | None = None) -> dict[str, Any]:
    return {"uri": URI} | ({} if version is None else {"version": version})


def opened(version: int = 1) -> Entry:
    return said("client", "textDocument/didOpen", {"textDocument": document(version)})


def changed(version: int, *changes: object) -> Entry:
    return said("client", "textDocument/didChange", {"textDocument": document(version), "contentChanges": list(changes)})


def closed() -> Entry:
    return said("client", "textDocument/didClose", {"textDocument": document()})


def published(version: int | None) -> Entry:
    return said("server", "textDocument/publishDiagnostics", document(version))


def progress(kind: str) -> Entry:
    return said("server", "$/progress", {"token": "t", "value": {"kind": kind}})


CREATED = [said("server", "window/workDoneProgress/create", {"token": "t"}, 1), answer("client", 1)]
ASKED = [said("client", "textDocument/hover", {}, 1), answer("server", 1)]  # the server has seen what came before
STATUS = said("client", "workspace/executeCommand", {"command": "everproof.status", "arguments": []}, 2)
TRACE = said("client", "workspace/executeCommand", {"command": "everproof.trace", "arguments": [URI, "f"]}, 2)
PULL = said("client", "textDocument/diagnostic", {"textDocument": document(), "previousResultId": "old"}, 2)
STEP = dict.fromkeys(("uri", "range", "function", "depth", "kind", "text", "values", "summary"))


def breaches(*entries: Entry) -> list[str]:
    return read({"from": sender, "message": message} for sender, message in entries).breaches


def test_a_session_that_keeps_to_the_rules_has_no_breach() -> None:
    typing = [opened(), published(1), changed(2, {}), changed(2), published(1), published(2), *ASKED, closed(), published(None)]
    commands = [answer("server", 2, [document(1)]), TRACE, answer("server", 2, [STEP]), PULL]
    pulled = [answer("server", 2, {"kind": "unchanged", "resultId": "old"})]
    assert breaches(*CREATED, progress("begin"), progress("report"), progress("end"), *typing) == []
    assert breaches(opened(), STATUS, *commands, *pulled) == []


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([opened(), changed(1, {})], "is changed to version 1 after 1"),
        ([opened(), opened()], "is opened twice"),
        ([opened(), published(2)], "which is only at 1"),
        ([opened(), changed(2, {}), published(2), published(1)], "at version 1 after 2"),
        ([opened(), *ASKED, published(None)], "which is open, without a version"),
        ([opened(), closed(), *ASKED, published(1)], "which is not open"),
        ([opened(), closed(), *ASKED, said("server", "everproof/status", document(1))], "a status of"),
        ([STATUS], "was never answered"),
        ([answer("server", 7)], "did not ask"),
        ([*CREATED, progress("begin")], "never ended"),
        ([*CREATED, progress("begin"), progress("end"), progress("end")], "though it ended"),
        ([opened(), STATUS, answer("server", 2, [document(2)])], "which is only at 1"),
        ([opened(), closed(), STATUS, answer("server", 2, [document(1)])], "which is not open"),
        ([TRACE, answer("server", 2, [STEP, {"uri": URI}])], "without depth"),
        ([PULL, answer("server", 2, {"kind": "unchanged", "resultId": "new"})], "does not say"),
    ],
)
def test_each_breach_is_seen(entries: list[Entry], words: str) -> None:
    (breach,) = breaches(*entries)
    assert words in breach
