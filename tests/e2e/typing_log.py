"""Judges what a server showed while somebody typed, key by key: `python tests/e2e/typing_log.py LOG FILE`.

The log is one of recording_python.py, FILE the name of the file that was typed into. The rules:

- no finding goes from error to warning and back to error, or from warning to error and back;
- a finding stays in the function that it was shown in first, whatever is typed around it;
- a place that does not parse is told after a pause, and none is told anew while keys follow each other;
- from one key to the next, the state of the file (`checking`, `idle`, `failed`) changes at most once; what takes long may begin
  and end.

Prints each breach and exits with 1 if there is any, else what was seen. A function is where its name stands at the beginning of a
line, before `(`, as in the files that it is used for.
"""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]
PAUSE = 0.95  # seconds without a key; the server waits for a second, and the log's clock is another one
_LONG = 0.45  # seconds, of a check
_SYNTAX = "input"  # the code of what is said of a place that does not parse
_HEAD = re.compile(r"^(?:[A-Za-z_][\w \t*]*[ \t*])?([A-Za-z_]\w*)\(", re.MULTILINE)


@dataclass
class Judgement:
    """What a log says of one file. `breaches` are in the order in which they were seen."""

    name: str
    breaches: list[str] = field(default_factory=list)
    keys: int = 0
    publishes: int = 0
    statuses: int = 0
    fingerprints: set[str] = field(default_factory=set)
    _texts: dict[int, str] = field(default_factory=dict)
    _version: int = 0
    _typed: float = 0.0
    _unanswered: float | None = None  # when the first key was pressed since the file was idle
    _changes: int = 0
    _state: str = ""
    _severities: dict[str, list[int]] = field(default_factory=dict)
    _functions: dict[str, str] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def take(self, entry: Json) -> None:
        """Takes in one line of the log."""
        message = entry["message"]
        params = message.get("params") or {}
        match entry["from"], message.get("method"):
            case "client", "textDocument/didOpen" if self._is_mine(params):
                self._version = params["textDocument"]["version"]
                self._texts[self._version] = params["textDocument"]["text"]
            case "client", "textDocument/didChange" if self._is_mine(params):
                self._change(params, entry["time"])
            case "server", "textDocument/publishDiagnostics" if params["uri"].endswith(f"/{self.name}"):
                self._published(params, entry["time"])
            case "server", "everproof/status" if params["uri"].endswith(f"/{self.name}"):
                self._told_state(params["state"], entry["time"])

    def _is_mine(self, params: Json) -> bool:
        return bool(params["textDocument"]["uri"].endswith(f"/{self.name}"))

    def _change(self, params: Json, now: float) -> None:
        text = self._texts[self._version]
        for change in params["contentChanges"]:
            text = edited(text, change)
        self.keys += 1
        self._version = params["textDocument"]["version"]
        self._texts[self._version] = text
        self._typed, self._changes = now, 0
        self._unanswered = now if self._unanswered is None else self._unanswered

    def _told_state(self, state: str, now: float) -> None:
        self.statuses += 1
        takes_long = state == "checking" and now - (now if self._unanswered is None else self._unanswered) > _LONG
        if state != "checking":
            self._unanswered = None
        if state == self._state:
            return
        is_first, self._state = not self._state, state
        self._changes += not is_first and not takes_long
        if self._changes > 1 and self.keys:
            self._breach(f"the state changes {self._changes} times after one key, to {state}")

    def _published(self, params: Json, now: float) -> None:
        text = self._texts.get(params.get("version") or self._version)
        if text is None:
            return
        self.publishes += 1
        told = set()
        for shown in params["diagnostics"]:
            if shown["code"] == _SYNTAX:
                told.add(shown["message"])
            elif (shown.get("data") or {}).get("fingerprint"):
                self._finding(shown, text)
        if told - self._told and now - self._typed < PAUSE and self.keys:
            self._breach(f"{sorted(told - self._told)} is told {now - self._typed:.2f} s after a key")
        self._told = told

    def _finding(self, shown: Json, text: str) -> None:
        fingerprint, line = shown["data"]["fingerprint"], shown["range"]["start"]["line"]
        self.fingerprints.add(fingerprint)
        severities = self._severities.setdefault(fingerprint, [])
        if not severities or severities[-1] != shown["severity"]:
            severities.append(shown["severity"])
            if severities[-3:] in ([1, 2, 1], [2, 1, 2]):
                self._breach(f"{fingerprint} ({shown['code']}, line {line + 1}) has the severities {severities}")
        function = function_at(text, line)
        first = self._functions.setdefault(fingerprint, function)
        if first != function:
            self._breach(f"{fingerprint} ({shown['code']}) was in {first}, and is shown in {function} (line {line + 1})")

    def _breach(self, text: str) -> None:
        self.breaches.append(f"key {self.keys}: {text}")


def edited(text: str, change: Json) -> str:
    """A text after a change; its characters are ASCII."""
    if "range" not in change:
        return str(change["text"])
    start, end = (_offset(text, change["range"][side]) for side in ("start", "end"))
    return text[:start] + str(change["text"]) + text[end:]


def _offset(text: str, position: Json) -> int:
    start = 0
    for _ in range(position["line"]):
        start = text.index("\n", start) + 1
    return start + int(position["character"])


def function_at(text: str, line: int) -> str:
    """The name of the function whose head is the last one up to a line; empty above the first one."""
    heads = [match for match in _HEAD.finditer(text) if not _is_declaration(text, match.end())]
    lines = [text.count("\n", 0, match.start()) for match in heads]
    before = bisect_left(lines, line + 1)
    return heads[before - 1][1] if before else ""


def _is_declaration(text: str, start: int) -> bool:
    return text[start : text.find("\n", start)].rstrip().endswith(";")


def judge(name: str, entries: Iterable[Json]) -> Judgement:
    """Judges a whole session."""
    judgement = Judgement(name)
    for entry in entries:
        judgement.take(entry)
    return judgement


def main(arguments: Sequence[str]) -> int:
    """Judges the log named, of the file named."""
    lines = Path(arguments[0]).read_text(encoding="utf-8").splitlines()
    judged = judge(arguments[1], (json.loads(line) for line in lines))
    for breach in judged.breaches:
        print(breach)
    if not judged.breaches:
        print(
            f"{judged.keys} keys, {judged.publishes} publishes of {len(judged.fingerprints)} findings, {judged.statuses} statuses"
        )
    return 1 if judged.breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
