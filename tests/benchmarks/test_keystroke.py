"""Edit sessions: what is typed, how keys are distinguished, what is said of the times; with the real server and with another."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import typing_session
from benchmarks.keystroke import STAGES, percentiles, tables
from benchmarks.programs import CACHE
from benchmarks.typing_session import KINDS, Key, Other, Outcome, edits, run, tokens

SESSIONS = sorted((Path(typing_session.__file__).parent / "sessions").glob("*.json"))
TEXT = "static int f(int *p)\n{\n    return *p;\n}\n\nint main(void)\n{\n    int n = 1;\n    return f(&n);\n}\n"
STEPS: list[dict[str, Any]] = [
    {
        "note": "null",
        "before": "    return f(&n);\n",
        "type": "f(0);\n",
        "expect": {"rule": "null-dereference", "line": "return *p"},
    },
    {"note": "comment", "after": "f(0);", "type": " // or 1"},
    {"note": "gone", "after": "\nf(0", "backspace": 1},
    {"note": "again", "after": "\nf(", "type": "&n", "expect_none": {"rule": "null-dereference", "line": "return *p"}},
    {"note": "a function", "before": "int main(void)", "type": "int g(void) { return 1; }\n", "outside": True},
]
OTHER_SERVER = """\
import json, sys
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
    sys.stdout.buffer.flush()
while header := sys.stdin.buffer.readline():
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))
    params = message.get("params") or {}
    if message["method"] == "exit":
        break
    if "id" in message:
        send({"id": message["id"], "result": {"capabilities": {}}})
    elif "textDocument" in params:
        document = params["textDocument"]
        told = [{"message": str(params.get("wantDiagnostics"))}]
        published = {"uri": document["uri"], "version": document["version"], "diagnostics": told}
        send({"method": "textDocument/publishDiagnostics", "params": {**published, "version": document["version"] - 1}})
        send({"method": "textDocument/publishDiagnostics", "params": published})
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The compile_commands.json of a program of one file, in a cache of its own."""
    monkeypatch.setattr(typing_session, "CACHE", tmp_path)
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "a.c").write_text(TEXT, encoding="utf-8")
    file = folder / "compile_commands.json"
    file.write_text(json.dumps([{"directory": str(folder), "file": "a.c", "arguments": ["cc", "-c", "a.c"]}]), encoding="utf-8")
    return file


def session(steps: list[dict[str, Any]]) -> dict[str, Any]:
    return {"program": "tiny", "file": "a.c", "steps": steps}


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
@pytest.mark.parametrize(
    ("step", "result"),
    [
        ({"after": "int ", "type": "*pointer"}, "int *pointer;x"),
        ({"before": ";", "type": "abc"}, "int abc;x"),
        ({"after": "int ;x", "backspace": 5}, "i"),
    ],
)
def test_typing_in_any_chunks_gives_the_same_text(step: dict[str, Any], result: str, chunk: int) -> None:
    text = "int ;x"
    for start, end, typed in edits(text, step, chunk):
        text = text[:start] + typed + text[end:]
    assert text == result


@pytest.mark.parametrize("scope", ["program", "file"])
def test_a_session_is_typed_into_the_server_and_its_expectations_are_looked_at(commands: Path, scope: str) -> None:
    wrong = {"note": "wrong", "after": "int g(void)", "type": " ", "expect": {"rule": "memory-leak", "line": "g"}}
    outcome = run(session([*STEPS, wrong]), commands, scope, 1)
    assert outcome.missed == ["memory-leak at `g` is missing"]
    assert [note for _, _, _, note in outcome.notes] == ["as expected"] * 5 + outcome.missed
    kinds = [key.kind for key in outcome.keys]
    typed = [len(step.get("type", "")) or step["backspace"] for step in STEPS]
    assert len(kinds) == sum(typed) + 1
    assert kinds[:4] == ["a broken state"] * 4
    assert kinds[4:7] == ["a body that parses", "white space or comment", "white space or comment"]
    assert kinds[7:9] == ["a broken state", "a body that parses"]  # the first slash of a comment, and the second
    assert set(kinds[9 : sum(typed[:2])]) == {"white space or comment"}
    assert kinds[sum(typed[:2])] == "a body that parses"  # f() with too few arguments
    assert {"a broken state", "declarations that parse"} <= set(kinds[sum(typed[:4]) : -1])
    for key in outcome.keys:
        assert key.published <= key.finished
        assert key.times.keys() >= {*STAGES, "total"}
        assert key.times["total"] <= key.finished


@pytest.mark.parametrize("more", [{}, {"wantDiagnostics": True}])
def test_the_same_keys_go_into_another_server(
    commands: Path, more: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "other.py"
    script.write_text(OTHER_SERVER, encoding="utf-8")
    kinds = [KINDS[number % len(KINDS)] for number in range(200)]
    outcome = run(session(STEPS), commands, "program", 2, Other([sys.executable, str(script)], more, kinds))
    assert [key.kind for key in outcome.keys] == kinds[: len(outcome.keys)]
    assert len(outcome.keys) == sum((len(step.get("type", " ")) + 1) // 2 for step in STEPS)
    assert outcome.missed == []


def test_white_space_and_comments_are_no_tokens_but_those_in_literals_are() -> None:
    assert tokens("int x; /* a */ // b\n") == tokens("int  x;\n") == ["int", "x", ";"]
    assert tokens("intx;") != tokens("int x;")
    assert tokens('f("/* no */ a");') != tokens('f("/* no */  a");')
    assert tokens("c = '\"'; // \"") == ["c", "=", "'\"'", ";"]


def test_the_tables_distinguish_kinds_and_stages() -> None:
    times = {**dict.fromkeys(STAGES, 2.0), "total": 17.0}
    ours = Outcome(
        1500.0,
        [Key(KINDS[0], 17.0, 20.0, {**times, "link": 4.0}, "typed", "a || b"), Key(KINDS[3], 7.0, 8.0, {**times, "total": 14.0})],
    )
    ours.notes.append(("typed", 2, 14.0, "as expected"))
    other = Outcome(500.0, [Key(KINDS[0], 70.0, 70.0, {}), Key(KINDS[3], 90.0, 90.0, {})])
    text = tables("s", {"program": ours}, {"clangd": other})
    assert "| program | published diagnostics | 2 | 7.0 ms | 17.0 ms | 17.0 ms | 17.0 ms | 1.50 s |" in text
    assert "| clangd | published diagnostics | 2 | 70.0 ms | 90.0 ms |" in text
    assert "| program | white space or comment | 1 | 8.0 ms |" in text
    assert "| clangd | a body that parses | 1 | 70.0 ms |" in text
    assert "| the rest of the check | 0.0 ms | 1.0 ms |" in text
    assert "| 20.0 ms | link, 4.0 ms | typed | `a \\|\\| b` |" in text
    assert "| transport | -6.0 ms | 3.0 ms |" in text


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentiles([float(n) for n in range(101)], (50, 95, 99)) == [50.0, 95.0, 99.0]
    assert percentiles([3.0], (50, 99)) == [3.0, 3.0]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_the_sessions_fit_their_files(path: Path) -> None:
    reported = json.loads(path.read_text(encoding="utf-8"))
    commands = CACHE / reported["program"] / "compile_commands.json"
    if not commands.is_file():
        pytest.skip("the program was not fetched")
    (entry,) = [entry for entry in json.loads(commands.read_text(encoding="utf-8")) if entry["file"] == reported["file"]]
    text = (Path(entry["directory"]) / entry["file"]).read_text(encoding="utf-8", errors="replace")
    for step in reported["steps"]:
        for start, end, typed in edits(text, step, 1000):
            text = text[:start] + typed + text[end:]
