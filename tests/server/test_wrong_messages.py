"""Messages that are wrong in any way: each request is answered once, and the server goes on. The
class: a request that nobody answers because of what is wrong with it, and a message that ends the
server or what it knows."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from lsp_editor import PATIENCE

from server.transport.envelopes import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    Notification,
    Request,
    Response,
    Wrong,
    messages_in,
)

INITIALIZE = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {"capabilities": {}}}
INITIALIZED = {"jsonrpc": "2.0", "method": "initialized", "params": {}}
SHUTDOWN = {"jsonrpc": "2.0", "id": "last", "method": "shutdown"}
EXIT = {"jsonrpc": "2.0", "method": "exit"}
URI = "file:///nowhere/a.c"


def frame(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def request(id_: object, method: str, params: object = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def opened(text: object, version: object = 1, uri: object = URI) -> dict[str, Any]:
    item = {"uri": uri, "languageId": "c", "version": version, "text": text}
    return {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}


def answers(command: list[str], *parts: bytes) -> dict[object, list[Any]]:
    """The answers to what is sent, by id: the result, or the code of the error. Each part is sent when the parts before it have
    had an answer to a request "next"."""
    found: dict[object, list[Any]] = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        guard = threading.Timer(3 * PATIENCE, server.kill)
        guard.start()
        rest = list(parts)
        server.stdin.write(rest.pop(0))
        server.stdin.flush()
        while header := server.stdout.readline():
            while line := server.stdout.readline().strip():
                assert line
            message = json.loads(server.stdout.read(int(header.split(b":")[1])))
            if "method" in message:
                continue
            answer = message["error"]["code"] if "error" in message else message["result"]
            found.setdefault(message["id"], []).append(answer)
            if message["id"] == "next":
                server.stdin.write(rest.pop(0))
                server.stdin.flush()
        guard.cancel()
        said = server.stderr.read().decode()
    assert "Traceback" not in said, said
    return found


def session(command: list[str], *messages: object) -> dict[object, list[Any]]:
    """The answers in an initialised session, without those of its beginning and end."""
    parts = [b""]
    for message in (INITIALIZE, INITIALIZED, *messages, SHUTDOWN, EXIT):
        parts[-1] += frame(message)
        if isinstance(message, dict) and message.get("id") == "next":
            parts.append(b"")
    found = answers(command, *parts)
    assert len(found.pop("first")) == 1
    assert found.pop("last") == [None]
    return found


POSITION = {"line": 0, "character": 0}
DOCUMENT = {"uri": URI}


WRONG_POSITIONS = [
    None,
    3,
    [],
    {},
    {"textDocument": None, "position": POSITION},
    {"textDocument": {"uri": None}, "position": POSITION},
    {"textDocument": DOCUMENT, "position": {"line": -1, "character": 0}},
    {"textDocument": DOCUMENT, "position": {"line": 2**64, "character": 0}},
    {"textDocument": DOCUMENT, "position": {"line": "0", "character": 0}},
    {"textDocument": DOCUMENT, "position": {"line": 0.5, "character": 0}},
    {"textDocument": DOCUMENT, "position": {"line": True, "character": 0}},
    {"textDocument": DOCUMENT, "position": None},
]


def test_wrong_parameters_are_refused(server_command: list[str]) -> None:
    requests = [request(number, "textDocument/hover", params) for number, params in enumerate(WRONG_POSITIONS)]
    assert session(server_command, *requests) == {number: [INVALID_PARAMS] for number in range(len(WRONG_POSITIONS))}


def test_every_method_answers_wrong_parameters(server_command: list[str]) -> None:
    methods = ["hover", "codeAction", "codeLens", "diagnostic", "inlayHint"]
    requests = [request(method, f"textDocument/{method}", 7) for method in methods]
    found = session(server_command, *requests, request("command", "workspace/executeCommand", {"command": 5}))
    assert found == {**{method: [INVALID_PARAMS] for method in methods}, "command": [INVALID_PARAMS]}


def test_commands_with_wrong_arguments_are_refused(server_command: list[str]) -> None:
    wrong = [None, [], [1, 2, 3], [{}], [None, None]]
    commands = [{"command": "everproof.trace", "arguments": arguments} for arguments in wrong]
    requests = [request(number, "workspace/executeCommand", command) for number, command in enumerate(commands)]
    assert session(server_command, *requests) == {number: [INVALID_PARAMS] for number in range(len(wrong))}


def test_ids_of_any_kind(server_command: list[str]) -> None:
    hover = {"textDocument": DOCUMENT, "position": POSITION}
    good = [0, -1, 2**64, 10**50, "", "a\u00e4", "0"]
    bad = [1.5, True, None, [], {}]
    found = session(server_command, *(request(id_, "textDocument/hover", hover) for id_ in [*good, *bad]))
    assert {id_: found.pop(id_) for id_ in good} == {id_: [None] for id_ in good}
    assert found == {1.5: [INVALID_REQUEST], None: [INVALID_REQUEST] * 4}


def test_an_id_that_is_waited_for_is_not_taken_twice(server_command: list[str]) -> None:
    full = request(5, "workspace/executeCommand", {"command": "everproof.fullCheck"})
    found = session(server_command, opened("int f(void); /* HANG */"), full, full)  # the first has no answer before the end
    assert len(found[5]) == 2
    assert found[5][0] == INVALID_REQUEST


def test_cancelling_what_is_not_there_does_nothing(server_command: list[str]) -> None:
    wrong = [None, True, 77, "x", [], {}, 1.5]
    cancels = [{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id_}} for id_ in wrong]
    unknown = request(1, "everproof/nothing")
    assert session(server_command, *cancels, {"jsonrpc": "2.0", "method": "$/cancelRequest"}, unknown) == {1: [METHOD_NOT_FOUND]}


def test_requests_before_the_first_and_after_the_last(server_command: list[str]) -> None:
    hover = "textDocument/hover"
    early = [request(1, hover), request(2, "shutdown"), opened("int f(void);"), {**INITIALIZE, "id": 3, "params": 4}]
    late = [{**INITIALIZE, "id": 4}]
    last = [request(5, hover, {}), {**INITIALIZE, "id": 6}, opened("int f(void);")]
    sent = [*early, INITIALIZE, *late, SHUTDOWN, *last, EXIT]
    found = answers(server_command, b"".join(map(frame, sent)))
    assert "capabilities" in found.pop("first")[0]
    assert found == {
        1: [NOT_INITIALIZED],
        2: [NOT_INITIALIZED],
        3: [INVALID_PARAMS],
        4: [INVALID_REQUEST],
        5: [INVALID_REQUEST],
        6: [INVALID_REQUEST],
        "last": [None],
    }


NO_JSON = [
    b"{",
    b"",
    b"nothing",
    b"\xff\xfe{}",
    b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}',
    b"[" * 100_000,
    b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}",
    b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "x"}',
]


def test_what_is_not_json_is_said(server_command: list[str]) -> None:
    assert session(server_command, *NO_JSON) == {None: [PARSE_ERROR] * len(NO_JSON)}


NO_FRAMES = [
    b"Content-Length: x\r\n\r\n{}",
    b"Content-Length: -5\r\n\r\n{}",
    b"Content-Length: 99999999999999999999\r\n\r\n{}",
    b"Content-Length: 999999999999\r\n\r\n{}",
    b"Length: 2\r\n\r\n{}",
    b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    b"\x00\xff\xfe" * 30_000,
    b"x" * (8192 - 3),  # what is read at once ends in the next header
    b'{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}\r\n',
]


def test_what_is_no_frame_is_left_out_and_said(server_command: list[str]) -> None:
    """What comes after it is answered."""
    sent = frame(INITIALIZE)
    for number, wrong in enumerate(NO_FRAMES):
        hover = {"textDocument": DOCUMENT, "position": POSITION}
        sent += wrong + frame(request(number, "textDocument/hover", hover))
    found = answers(server_command, sent + frame(SHUTDOWN) + frame(EXIT))
    assert {number: found[number] for number in range(len(NO_FRAMES))} == {number: [None] for number in range(len(NO_FRAMES))}
    assert found["last"] == [None]
    assert found[None] == [PARSE_ERROR] * len(NO_FRAMES)


def test_headers_as_other_clients_write_them(server_command: list[str]) -> None:
    body = json.dumps(INITIALIZE).encode()
    sent = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:%d  \r\n\r\n%s" % (len(body), body)
    found = answers(server_command, sent + frame(SHUTDOWN) + frame(EXIT))
    assert found.keys() == {"first", "last"}


def test_a_batch_is_refused_request_by_request(server_command: list[str]) -> None:
    batch = [request(1, "textDocument/hover"), {"jsonrpc": "2.0", "method": "exit"}, 7, request("x", "shutdown")]
    assert session(server_command, batch, []) == {1: [INVALID_REQUEST], None: [INVALID_REQUEST] * 2, "x": [INVALID_REQUEST]}


def test_documents_that_make_no_sense_leave_the_others_alone(server_command: list[str], tmp_path: Path) -> None:
    good = (tmp_path / "good.c").as_uri()
    odd = [
        "",
        "x",
        "untitled:One",
        "file://host/a.c",
        "file:///a%00.c",
        "git:/a.c?{}",
        "file:///" + "x" * 5000 + ".c",
        "file:///%FF.c",
    ]
    range_ = {"start": {"line": 9, "character": 9}, "end": {"line": 3, "character": 2**31 - 1}}

    def changed(uri: object, version: object, *changes: object) -> dict[str, Any]:
        params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}
        return {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}

    found = session(
        server_command,
        *(opened("int f(int *p) { return BUG; }\n", uri=uri) for uri in odd),
        *(opened(text) for text in (None, 7, [])),
        opened("int f(void);", 2**70),
        opened("int g(int *p) {\n    return BUG;\n}\n", uri=good),
        opened("int g(int *p) {\n    return BUG;\n}\n", uri=good),
        changed(good, 1, {"text": "int g(int *p) {\n\ud83d\n    return BUG;\n}\n"}),
        changed(good, -5, {"range": range_, "text": "\udc00"}),
        changed(good, 2**40, {"text": "never"}),
        changed("file:///not/open.c", 2, {"text": ""}),
        changed(good, 3, {"range": None, "text": "int g(int *p) {\n    return BUG;\n}\n"}),
        {"jsonrpc": "2.0", "method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///not/open.c"}}},
        request("next", "workspace/executeCommand", {"command": "everproof.fullCheck"}),
        request(2, "textDocument/hover", {"textDocument": {"uri": good}, "position": {"line": 0, "character": 4}}),
    )
    assert found["next"][0]["complete"] is True
    assert "possible" in found[2][0]["contents"]["value"]


def test_messages_taken_apart() -> None:
    def one(text: str) -> object:
        (found,) = messages_in(text.encode())
        return type(found), found[0]

    assert one('{"jsonrpc": "2.0", "id": 1, "method": "m"}') == (Request, 1)
    assert one('{"jsonrpc": "2.0", "method": "m"}') == (Notification, "m")
    assert one('{"jsonrpc": "2.0", "id": "1", "result": null}') == (Response, "1")
    assert one('{"jsonrpc": "1.0", "id": 1, "method": "m"}') == (Wrong, 1)
    assert one('{"id": 1, "method": "m"}') == (Wrong, 1)
    assert one('{"jsonrpc": "2.0", "id": 1}') == (Wrong, 1)
    assert one('{"jsonrpc": "2.0", "id": 1, "method": 5}') == (Wrong, 1)
    assert one("null") == (Wrong, None)


def test_halves_of_surrogate_pairs_are_replaced_and_whole_ones_kept() -> None:
    (found,) = messages_in(rb'{"jsonrpc": "2.0", "method": "m", "params": {"\ud800k": ["\ud83d\ude00 \udc00x"]}}')
    assert isinstance(found, Notification)
    assert found.message["params"] == {"\ufffdk": ["\U0001f600 \ufffdx"]}


def test_a_short_run_of_the_fuzzer() -> None:
    """Runs `benchmarks.fuzzed_lsp` with the real checker; its docstring says what it checks."""
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.fuzzed_lsp", "--messages", "2000", "--seed", "7"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "\n0 wrong\n" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 0
