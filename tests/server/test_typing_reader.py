"""The judge of what is shown while somebody types, which `make e2e` trusts, sees each breach of its rules, and no other one."""

from __future__ import annotations

from typing import Any

from e2e.typing_log import function_at, judge

URI = "file:///w/a.c"
TEXT = "int one(int x);\n\nstatic int\ntwo(int x)\n{\n\treturn x;\n}\n\nint three(void)\n{\n\treturn two(1);\n}\n"
Entry = dict[str, Any]


def said(sender: str, time: float, method: str, params: Any) -> Entry:
    return {"from": sender, "time": time, "message": {"method": method, "params": params}}


def opened() -> Entry:
    return said("client", 0.0, "textDocument/didOpen", {"textDocument": {"uri": URI, "version": 1, "text": TEXT}})


def key(version: int, time: float, line: int = 5, text: str = " ") -> Entry:
    at = {"line": line, "character": 0}
    change = {"range": {"start": at, "end": at}, "text": text}
    return said(
        "client", time, "textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [change]}
    )


def shown(time: float, line: int = 5, severity: int = 1, code: str = "null-dereference") -> Entry:
    data = {} if code == "input" else {"fingerprint": "f"}
    one = {"range": {"start": {"line": line}}, "severity": severity, "code": code, "message": "m", "data": data}
    return said("server", time, "textDocument/publishDiagnostics", {"uri": URI, "diagnostics": [one]})


def state(time: float, word: str) -> Entry:
    return said("server", time, "everproof/status", {"uri": URI, "state": word})


def breaches(*entries: Entry) -> list[str]:
    return judge("a.c", [opened(), *entries]).breaches


def test_a_steady_session_has_no_breach() -> None:
    typed = [
        state(0.1, "idle"),
        shown(0.2),
        key(2, 1.0, 0, "\n"),
        shown(1.1, 6),
        key(3, 2.0),
        shown(2.1, 6, 2),
        shown(3.2, code="input"),
    ]
    assert breaches(*typed, key(4, 4.0), state(4.6, "checking"), state(5.0, "idle"), shown(5.1, code="input")) == []


def test_a_severity_that_goes_and_comes_back_is_seen() -> None:
    [breach] = breaches(shown(0.1), key(2, 1.0), shown(1.1, severity=2), key(3, 2.0), shown(2.1))
    assert "[1, 2, 1]" in breach


def test_a_finding_in_another_function_is_seen() -> None:
    [breach] = breaches(shown(0.1), key(2, 1.0), shown(1.1, 10))
    assert "was in two, and is shown in three" in breach


def test_what_does_not_parse_is_not_told_soon_after_a_key() -> None:
    [breach] = breaches(key(2, 1.0), shown(1.1, code="input"))
    assert "is told 0.10 s after a key" in breach


def test_a_state_that_comes_and_goes_with_a_key_is_seen() -> None:
    [breach] = breaches(state(0.0, "idle"), key(2, 1.0), state(1.01, "checking"), state(1.05, "idle"))
    assert "changes 2 times after one key" in breach


def test_functions_are_told_by_their_heads() -> None:
    assert [function_at(TEXT, line) for line in (0, 3, 5, 8, 10)] == ["", "two", "two", "three", "three"]
