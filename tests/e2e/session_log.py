"""Reads what an editor and the server said to each other, strictly: `python tests/e2e/session_log.py LOG`.

The log is one of recording_python.py. The rules:

- the versions of a document grow with each change, and those of its diagnostics and statuses never fall, nor run ahead;
- diagnostics of an open document have its version, those of others have none, and nothing is said of the functions of a document
  that is not open. What was on its way when the document was opened or closed is excused;
- every request is answered exactly once, and every progress that begins ends, once;
- what `everproof.status` answers keeps to the rules of statuses; each step of `everproof.trace` has its place and its words;
  pulled diagnostics are `unchanged` only where the client named the result that they are like.

Prints each breach and exits with 1 if there is any, else what was seen.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass
class _Document:
    """A document as the log has it. `settled`: the server has surely seen the last opening or closing."""

    version: int | None = None
    published: int | None = None
    reported: int | None = None
    settled: bool = True
    since: int = 0


@dataclass
class Reading:
    """What a log says. `breaches` are in the order in which they were seen."""

    breaches: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    _documents: dict[str, _Document] = field(default_factory=dict)
    _asked: dict[tuple[str, int | str], tuple[str, int, Json]] = field(default_factory=dict)
    _progress: dict[int | str, str] = field(default_factory=dict)
    _line: int = 0

    def take(self, entry: Json) -> None:
        """Takes in one line of the log."""
        self._line += 1
        sender, message = entry["from"], entry["message"]
        method = message.get("method")
        self.seen[f"{sender} {method or 'response'}"] += 1
        if method is None:
            self._answered("server" if sender == "client" else "client", message)
            return
        if "id" in message:
            self._ask(sender, message["id"], method, message.get("params") or {})
        handler = _HANDLERS.get((sender, method))
        if handler is not None:
            handler(self, message["params"])

    def end(self) -> None:
        """The session is over."""
        for (sender, number), (method, line, _) in self._asked.items():
            self._breach(f"{method} ({sender}'s {number}, line {line}) was never answered")
        for token, state in self._progress.items():
            if state != "ended":
                self._breach(f"progress {token} {state} and never ended")

    def _breach(self, text: str) -> None:
        self.breaches.append(f"line {self._line}: {text}")

    def _ask(self, sender: str, number: int | str, method: str, params: Json) -> None:
        if (sender, number) in self._asked:
            self._breach(f"{sender} asks with the number {number} twice")
        self._asked[sender, number] = method, self._line, params

    def _answered(self, sender: str, message: Json) -> None:
        number = message.get("id")
        asked = self._asked.pop((sender, number), None) if number is not None else None
        if asked is None:
            self._breach(f"an answer to {number}, which {sender} did not ask")
        elif sender == "client":  # the server handles what the editor sends in order: it has seen all that came before
            for document in self._documents.values():
                document.settled = document.settled or document.since < asked[1]
            method, _, params = asked
            handler = _ANSWERS.get(params.get("command", method))
            if handler is not None and "result" in message:
                handler(self, params, message["result"])

    def _status_answered(self, params: Json, result: list[Json]) -> None:
        for status in result:
            uri, current = status["uri"], self._version_of(status["uri"])
            if current is not None and status["version"] > current:
                self._breach(f"the status of {uri} is of version {status['version']}, which is only at {current}")
            if current is None and self._documents.get(uri, _Document()).settled:
                self._breach(f"a status of {uri}, which is not open")

    def _trace_answered(self, params: Json, result: list[Json]) -> None:
        for step in result:
            missing = {"uri", "range", "function", "depth", "kind", "text", "values", "summary"} - step.keys()
            if missing:
                self._breach(f"a step of {params['arguments']} without {', '.join(sorted(missing))}")

    def _pulled(self, params: Json, result: Json) -> None:
        if result["kind"] == "unchanged" and result["resultId"] != params.get("previousResultId"):
            self._breach(f"diagnostics of {params['textDocument']['uri']} are unchanged, but since what the client does not say")

    def _opened(self, params: Json) -> None:
        item = params["textDocument"]
        if self._version_of(item["uri"]) is not None:
            self._breach(f"{item['uri']} is opened twice")
        self._documents[item["uri"]] = _Document(item["version"], settled=False, since=self._line)

    def _changed(self, params: Json) -> None:
        uri, version = params["textDocument"]["uri"], params["textDocument"]["version"]
        known = self._version_of(uri)
        again = version == known and not params["contentChanges"]  # Neovim 0.7, before a request: nothing changes
        if known is None or (version <= known and not again):
            self._breach(f"{uri} is changed to version {version} after {known}")
        self._documents.setdefault(uri, _Document()).version = version

    def _closed(self, params: Json) -> None:
        uri = params["textDocument"]["uri"]
        if self._version_of(uri) is None:
            self._breach(f"{uri} is closed and was not open")
        self._documents[uri] = _Document(settled=False, since=self._line)

    def _published(self, params: Json) -> None:
        uri, version = params["uri"], params.get("version")
        document = self._documents.setdefault(uri, _Document())
        if document.version is None:
            if version is not None and document.settled:
                self._breach(f"diagnostics of {uri}, which is not open, at version {version}")
        elif version is None:
            if document.settled:
                self._breach(f"diagnostics of {uri}, which is open, without a version")
        else:
            self._in_order("diagnostics", uri, version, document.version, document.published)
            document.published = version

    def _told(self, params: Json) -> None:
        uri, version = params["uri"], params["version"]
        document = self._documents.setdefault(uri, _Document())
        if document.version is None:
            if document.settled:
                self._breach(f"a status of {uri}, which is not open")
        else:
            self._in_order("a status", uri, version, document.version, document.reported)
            document.reported = version

    def _in_order(self, what: str, uri: str, version: int, current: int, last: int | None) -> None:
        if version > current:
            self._breach(f"{what} of {uri} at version {version}, which is only at {current}")
        if last is not None and version < last:
            self._breach(f"{what} of {uri} at version {version} after {last}")

    def _created(self, params: Json) -> None:
        if params["token"] in self._progress:
            self._breach(f"progress {params['token']} is created twice")
        self._progress[params["token"]] = "was created"

    def _progressed(self, params: Json) -> None:
        token, kind = params["token"], params["value"]["kind"]
        state = self._progress.get(token, "was not created")
        if (kind == "begin") != (state == "was created") or state in ("ended", "was not created"):
            self._breach(f"progress {token}: {kind}, though it {state}")
        self._progress[token] = {"begin": "began", "report": "began", "end": "ended"}[kind]

    def _version_of(self, uri: str) -> int | None:
        document = self._documents.get(uri)
        return None if document is None else document.version


_HANDLERS = {
    ("client", "textDocument/didOpen"): Reading._opened,
    ("client", "textDocument/didChange"): Reading._changed,
    ("client", "textDocument/didClose"): Reading._closed,
    ("server", "textDocument/publishDiagnostics"): Reading._published,
    ("server", "everproof/status"): Reading._told,
    ("server", "window/workDoneProgress/create"): Reading._created,
    ("server", "$/progress"): Reading._progressed,
}

_ANSWERS = {  # by method, or by command
    "everproof.status": Reading._status_answered,
    "everproof.trace": Reading._trace_answered,
    "textDocument/diagnostic": Reading._pulled,
}


def read(entries: Iterable[Json]) -> Reading:
    """Reads a whole session."""
    reading = Reading()
    for entry in entries:
        reading.take(entry)
    reading.end()
    return reading


def main(arguments: Sequence[str]) -> int:
    """Reads the log named."""
    lines = Path(arguments[0]).read_text(encoding="utf-8").splitlines()
    reading = read(json.loads(line) for line in lines)
    for breach in reading.breaches:
        print(breach)
    if not reading.breaches:
        print(", ".join(f"{count} {what}" for what, count in sorted(reading.seen.items())))
    return 1 if reading.breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
