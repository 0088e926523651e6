"""Messages that are wrong in every way, to the real server with the real checker over standard
input and output.

    python -m benchmarks.fuzzed_lsp [--messages N] [--seed N]

Messages of a session are changed at random: values of other types, odd ids, keys that are missing,
methods that do not exist, deep and long values, half surrogate pairs, broken JSON, broken headers,
batches; a part of them comes before `initialize` and after `shutdown`. The command counts the
answers by id: each request must have exactly one. Then the documents get texts that are known, and
the diagnostics must be those of a fresh server. It fails if an answer is missing, twice there, or
nobody asked for it, if the server ends, if its memory is above the bound, or if the diagnostics
differ.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_AHEAD = 200  # requests that are open at once
_PATIENCE = 120.0  # seconds without anything from the server
_BOUND = 400_000_000  # bytes of the server's memory
_EARLY = 0.02  # of the messages come before `initialize`
_LATE = 0.01  # and after `shutdown`
_TEXT = """#include <stdlib.h>
int *make(int n) { return n > 3 ? malloc(4) : 0; }
int use(int n) {
    int *p = make(n);
    *p = n;
    free(p);
    return *p;
}
"""
_OTHER = "int use(int n);\nint main(void) {\n    int *q = 0;\n    use(5);\n    return *q;\n}\n"
_NAMES = ("one.c", "two.c")

_Message = dict[str, Any]


class Expected(NamedTuple):
    """Bytes to send, the ids that each get one more answer for them, and the least and greatest number of
    answers without a usable id."""

    sent: bytes
    ids: tuple[str, ...] = ()
    least: int = 0
    most: int = 0


class Fuzz:
    """Makes messages. `folder` is the folder in the documents' URIs."""

    def __init__(self, seed: int, folder: str) -> None:
        self.chance = random.Random(seed)
        self._folder = folder
        self._ids = 0

    def next(self) -> Expected:
        """Some message."""
        draw = self.chance.random()
        if draw < 0.03:
            return self._broken_json()
        if draw < 0.05:
            return self._broken_frame()
        if draw < 0.07:
            return self._batch()
        message = self._valid()
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, 3))):
            self._change(message)
        if draw < 0.12:
            self._wrong_envelope(message)
        return expected(message)

    def some_id(self) -> str | int:
        """An id that was not there."""
        self._ids += 1
        return self.chance.choice((self._ids, -self._ids, f"id {self._ids}", 10**30 + self._ids))

    def _uri(self) -> str:
        inside = f"file://{self._folder}/{self.chance.choice(_NAMES)}"
        odd = ("untitled:x", "file://host/a.c", "file:///a%00b.c", "", "http://a/b.c", "file:///%", "file:///" + "y" * 3000)
        return inside if self.chance.random() < 0.8 else self.chance.choice(odd)

    def _position(self) -> _Message:
        return {"line": self.chance.randrange(12), "character": self.chance.randrange(40)}

    def _range(self) -> _Message:
        return {"start": self._position(), "end": self._position()}

    def _valid(self) -> _Message:
        document, chance = {"uri": self._uri()}, self.chance
        text = chance.choice((_TEXT, _OTHER, "", "int f(", "\U0001f600 int x;\r\n"))
        requests: list[tuple[str, Callable[[], Any]]] = [
            ("textDocument/hover", lambda: {"textDocument": document, "position": self._position()}),
            ("textDocument/codeLens", lambda: {"textDocument": document}),
            ("textDocument/inlayHint", lambda: {"textDocument": document, "range": self._range()}),
            ("textDocument/codeAction", lambda: self._code_action(document)),
            ("textDocument/diagnostic", lambda: {"textDocument": document, "previousResultId": "x"}),
            ("workspace/executeCommand", lambda: self._command(document["uri"])),
            ("everproof/unknown", dict),
            ("textDocument/definition", lambda: {"textDocument": document, "position": self._position()}),
        ]
        version = chance.choice((1, 2, 3, 0, -1, 50, 2**31 - 1))
        item = {**document, "languageId": "c", "version": version, "text": text}
        changes = [{"range": self._range(), "text": chance.choice(("x", "\n", "", text))}, {"text": text}]
        versioned, some = {**document, "version": version}, chance.sample(changes, chance.randrange(3))
        notifications: list[tuple[str, Any]] = [
            ("textDocument/didOpen", {"textDocument": item}),
            (
                "textDocument/didChange",
                {"textDocument": versioned, "contentChanges": some},
            ),
            ("textDocument/didSave", {"textDocument": document}),
            ("textDocument/didClose", {"textDocument": document}),
            ("workspace/didChangeConfiguration", {"settings": {"everproof": {"mode": "continuous"}}}),
            ("workspace/didChangeWatchedFiles", {"changes": [{"uri": self._uri(), "type": chance.choice((1, 2, 3))}]}),
            ("$/cancelRequest", {"id": chance.choice((self._ids, -self._ids, f"id {self._ids}", None))}),
            ("$/setTrace", {"value": "off"}),
            ("window/workDoneProgress/cancel", {"token": "x"}),
        ]
        if chance.random() < 0.6:
            method, make = chance.choice(requests)
            return {"jsonrpc": "2.0", "id": self.some_id(), "method": method, "params": make()}
        if chance.random() < 0.1:
            return {"jsonrpc": "2.0", "id": chance.choice((3, "none")), "result": None}
        method, params = chance.choice(notifications)
        return {"jsonrpc": "2.0", "method": method, "params": params}

    def _code_action(self, document: _Message) -> _Message:
        item = {"range": self._range(), "message": "x", "source": "everproof", "data": {"fingerprint": "x"}}
        return {"textDocument": document, "range": self._range(), "context": {"diagnostics": [item]}}

    def _command(self, uri: str) -> _Message:
        names = ["trace", "status", "explainRule", "derivation", "states", "invariants", "nothing"]
        name = "fullCheck" if self.chance.random() < 0.02 else self.chance.choice(names)
        return {"command": f"everproof.{name}", "arguments": [uri, "use"][: self.chance.randrange(3)]}

    def _odd(self) -> Any:
        deep: Any = 1
        for _ in range(self.chance.choice((10, 200))):
            deep = [deep]
        odd: tuple[Any, ...] = (
            None,
            True,
            -1,
            2**31,
            2**64,
            1.5,
            1e308,
            "",
            "x",
            "\ud800",
            "\udc00\ud800",
            "z" * 20_000,
            [],
            {},
            [None],
            deep,
        )
        return self.chance.choice(odd)

    def _change(self, message: _Message) -> None:
        """Changes some value below `params`, or leaves one out."""
        holder: Any = message
        key: Any = "params"
        while key in holder if isinstance(holder, dict) else key < len(holder):
            value = holder[key]
            if not isinstance(value, dict | list) or not value or self.chance.random() < 0.15:
                break
            holder = value
            key = self.chance.choice(list(value)) if isinstance(value, dict) else self.chance.randrange(len(value))
        if isinstance(holder, dict) and self.chance.random() < 0.2:
            holder.pop(key, None)
        else:
            holder[key] = copy.deepcopy(self._odd())

    def _wrong_envelope(self, message: _Message) -> None:
        match self.chance.randrange(4):
            case 0:
                message["id"] = self.chance.choice((None, True, 1.5, [], {}, "", 0))
            case 1:
                message["jsonrpc"] = self.chance.choice((None, "1.0", 2, {}))
            case 2:
                message["method"] = self.chance.choice((None, 5, "", "x" * 1000, "\ud800", "initialize", "rpc.x"))
            case 3:
                message.pop(self.chance.choice(("jsonrpc", "method")), None)

    def _broken_json(self) -> Expected:
        body = json.dumps(self._valid()).encode()
        cut = self.chance.randrange(1, len(body))
        deep = b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 9000
        broken = (body[:cut], body[:cut] + b"\xff" + body[cut:], deep, b"", b"nonsense", b'"' + body)
        return Expected(_frame(self.chance.choice(broken)), least=1, most=1)

    def _broken_frame(self) -> Expected:
        """Something that is no frame, and a request after it that must be answered."""
        garbage = (
            b"Content-Length: x\r\n\r\n{}",
            b"Content-Length: -1\r\n\r\n",
            b"Content-Length: 99999999999\r\n\r\n{}",
            b"\x00\xff" * self.chance.randrange(1, 10_000),
            b"GET / HTTP/1.1\r\n\r\n",
            b"{}\n",
            b"Content-Type: a\r\n\r\n",
        )
        after = {"jsonrpc": "2.0", "id": self.some_id(), "method": "everproof/after"}
        heard = expected(after)
        return Expected(self.chance.choice(garbage) + heard.sent, heard.ids, 0, 2)

    def _batch(self) -> Expected:
        messages = [self._valid() for _ in range(self.chance.randrange(4))]
        ids = tuple(_key(m["id"]) for m in messages if "id" in m)
        return Expected(_frame(json.dumps(messages).encode()), ids, int(not ids), int(not ids))


def expected(message: _Message) -> Expected:
    """The answer that a message must get."""
    sent = _frame(json.dumps(message).encode())
    wrong = message.get("jsonrpc") != "2.0" or ("method" in message and not isinstance(message["method"], str))
    id_ = message.get("id")
    usable = isinstance(id_, str | int | float) and not isinstance(id_, bool)
    is_answer = "method" not in message and "id" in message and ("result" in message or "error" in message)
    if not wrong and is_answer and isinstance(id_, str | int) and usable:
        return Expected(sent)
    if "id" in message or wrong or "method" not in message:
        return Expected(sent, (_key(id_),)) if usable else Expected(sent, (), 1, 1)
    return Expected(sent)


def _key(id_: object) -> str:
    return json.dumps(id_)


def _frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class Client:
    """A server process, and the answers that it has given by id."""

    def __init__(self, folder: str) -> None:
        command = [sys.executable, "-m", "server", "--store", "none", "--log", "error"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.answered: Counter[str] = Counter()
        self.results: dict[str, Any] = {}
        self.diagnostics: dict[str, Any] = {}
        self.said: list[str] = []
        self.errors: Counter[int] = Counter()
        self.folder = folder
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self._take(json.loads(stream.read(length)))
            self._news.put(None)

    def _take(self, message: _Message) -> None:
        if "method" in message and "id" in message:
            answer = [None] * len(message["params"]["items"]) if message["method"] == "workspace/configuration" else None
            self.send(_frame(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}).encode()))
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" not in message:
            self.answered[_key(message["id"])] += 1
            self.results[_key(message["id"])] = message.get("result")
            self.errors[message.get("error", {}).get("code", 0)] += 1

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line.decode(errors="replace").rstrip())

    def send(self, data: bytes) -> None:
        """Sends bytes. The server may be gone: then answers will be missing."""
        assert self.process.stdin is not None
        try:
            with _sending:
                self.process.stdin.write(data)
                self.process.stdin.flush()
        except (OSError, ValueError):
            pass

    def until(self, holds: Callable[[], bool]) -> bool:
        """Waits for something; False if nothing has come from the server for long."""
        while not holds():
            try:
                self._news.get(timeout=_PATIENCE)
            except queue.Empty:
                return holds()
        return True

    def ask(self, method: str, params: Any, id_: str) -> Any:
        """The result of a request."""
        self.send(_frame(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()))
        self.until(lambda: self.answered[_key(id_)] > 0)
        return self.results.get(_key(id_))

    def tell(self, method: str, params: Any) -> None:
        """Sends a notification."""
        self.send(_frame(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()))

    def begin(self) -> None:
        """Initialises the server."""
        folder = {"uri": f"file://{self.folder}", "name": "fuzzed"}
        self.ask("initialize", {"processId": os.getpid(), "capabilities": {}, "workspaceFolders": [folder]}, "initialize")
        self.tell("initialized", {})

    def known(self) -> dict[str, Any]:
        """The diagnostics of documents with texts that are known, after a check of everything."""
        self.tell("workspace/didChangeConfiguration", {"settings": {"everproof": {}}})
        for name, text in zip(_NAMES, (_TEXT, _OTHER), strict=True):
            uri = f"file://{self.folder}/{name}"
            self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
            item = {"uri": uri, "languageId": "c", "version": 1000, "text": text}
            self.tell("textDocument/didOpen", {"textDocument": item})
        checked = self.ask("workspace/executeCommand", {"command": "everproof.fullCheck"}, "full check")
        shown = {name: self.diagnostics.get(f"file://{self.folder}/{name}") for name in _NAMES}
        return {"complete": (checked or {}).get("complete"), **{name: _told(found) for name, found in shown.items()}}

    def memory(self) -> int:
        """The bytes that the server holds."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> int:
        """Has the server end; its exit code."""
        self.tell("exit", None)
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
        for thread in self._threads:
            thread.join(_PATIENCE)
        return self.process.wait()


_sending = threading.Lock()


def _told(diagnostics: list[Any] | None) -> list[tuple[Any, ...]]:
    """What diagnostics say, whether provers have been there or not."""
    return sorted((d["code"], d["range"]["start"]["line"], d["range"]["start"]["character"]) for d in diagnostics or [])


class Result(NamedTuple):
    """What came of it. `memory`: bytes of the server after a tenth and at the end."""

    requests: int
    errors: Counter[int]
    memory: tuple[int, int]
    wrong: list[str]
    seconds: float


def fuzz(messages: int, seed: int) -> Result:
    """Sends so many messages."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in zip(_NAMES, (_TEXT, _OTHER), strict=True):
            Path(folder, name).write_text(text)
        maker, client = Fuzz(seed, folder), Client(folder)
        asked: Counter[str] = Counter()
        least = most = 0
        early, late, first = int(messages * _EARLY), int(messages * _LATE), 0
        for number in range(messages):
            if number == early:
                client.begin()
                asked['"initialize"'] += 1
            if number == messages // 10:
                first = client.memory()
            if number == messages - late:
                shown, last = client.known(), client.memory()
                client.ask("shutdown", None, "shutdown")
                asked.update(('"full check"', '"shutdown"'))
            one = maker.next()
            asked.update(one.ids)
            least, most = least + one.least, most + one.most
            client.send(one.sent)
            limit = asked.total() - _AHEAD
            if not client.until(lambda limit=limit: client.answered.total() >= limit):  # type: ignore[misc]
                break
        is_done = client.until(lambda: all(client.answered[key] >= count for key, count in asked.items()))
        code = client.end()
        fresh = Client(folder)
        fresh.begin()
        wanted = fresh.known()
        fresh.ask("shutdown", None, "shutdown")
        fresh.end()
    wrong = [] if is_done else ["some requests have no answer"]
    unusable = client.answered.pop("null", 0)
    wrong += [f"{client.answered[key]} answers to {key}, not {n}" for key, n in asked.items() if client.answered[key] != n]
    wrong += [f"an answer to {key}, which nobody asked" for key in client.answered if key not in asked]
    wrong += [] if least <= unusable <= most else [f"{unusable} answers without an id, not {least} to {most}"]
    wrong += [] if code == 0 else [f"the server ended with {code}"]
    wrong += [] if shown == wanted else [f"the diagnostics are {shown}, those of a fresh server {wanted}"]
    wrong += (
        [] if shown["complete"] and shown[_NAMES[0]] and shown[_NAMES[1]] else [f"there are no diagnostics to compare: {shown}"]
    )
    wrong += [] if last < _BOUND else [f"the server holds {last} bytes"]
    said = Counter(line for line in client.said if "defect" in line or "Traceback" in line or "Error:" in line)
    wrong += [f"said {count} times: {line}" for line, count in said.items()]
    return Result(asked.total(), client.errors, (first, last), wrong, time.monotonic() - began)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzzed_lsp", description="Wrong messages to the server.")
    parser.add_argument("--messages", type=int, default=100_000, help="how many (default: 100000)")
    parser.add_argument("--seed", type=int, default=1, help="of the messages (default: 1)")
    given = parser.parse_args(arguments)
    found = fuzz(given.messages, given.seed)
    print(f"{given.messages} messages in {found.seconds:.0f} s, {found.requests} requests to be answered")
    print("answers: " + ", ".join(f"{count} {code or 'results'}" for code, count in sorted(found.errors.items())))
    print("server memory: " + " MB after a tenth, ".join(f"{size / 1e6:.0f}" for size in found.memory) + " MB at the end")
    for line in found.wrong[:30]:
        print(f"WRONG: {line}")
    print(f"{len(found.wrong)} wrong")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
