"""An editor that judges everything it receives while it types: for `benchmarks.typing_load`.

Of each document it knows the text of every version. What must always hold, of every `publishDiagnostics`:

- it has a version that was sent, none earlier than the last one's;
- the finding of the function that nobody edits is there, and its range is exactly its words in the text of that version;
- a finding that went away does not come back by itself: it had been left out meanwhile. (What is typed itself is excepted.)
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo.editor import Editor, Json, position

STEADY_RULE = "use-after-free"
STEADY_WORDS = "*p = 1"
TYPED_RULE = "null-dereference"
TYPED_FUNCTION = "everproof_typed"
_STEADY = """
static void everproof_steady_{number}(void)
{{
\tint *p = malloc(sizeof *p);
\tif (!p)
\t\treturn;
\tfree(p);
\t*p = 1;
}}
"""
_TYPED = """
static int everproof_typed_{number}(int n)
{{
\tint sum = n;
\treturn sum;
}}
"""
PLACE = "\tint sum = n;\n"  # what is typed comes after it


@dataclass
class Typed:
    """A document, the text of each of its versions, and what was received for it."""

    uri: str
    name: str
    text: str
    version: int = 1
    offset: int = 0
    texts: dict[int, str] = field(default_factory=dict)
    sent: dict[int, float] = field(default_factory=dict)
    published: int = 0
    answered: int = 1
    shown: list[Json] = field(default_factory=list)
    state: tuple[int, str] = (0, "")
    seen_typed: bool = False
    gone: dict[str, int] = field(default_factory=dict)


@dataclass
class Observed:
    """All that counts. `wrong` are breaches, in words; times are milliseconds, `waits` those of the server's
    loop (server.loop_watch)."""

    wrong: list[str] = field(default_factory=list)
    publishes: int = 0
    stale: int = 0
    latencies: list[float] = field(default_factory=list)
    waits: list[dict[str, float]] = field(default_factory=list)


def planted(text: str, number: int) -> str:
    """A file with a function to type into, before the others where that can be, and at its end one with a defect."""
    lines = text.splitlines(keepends=True)
    depth, at = 0, None
    for index, line in enumerate(lines):
        word = line.lstrip().removeprefix("#").lstrip() if line.lstrip().startswith("#") else ""
        depth += word.startswith("if") - word.startswith("endif")
        if word.startswith("include") and depth == 0:
            at = index + 1
    typed, steady = _TYPED.format(number=number), _STEADY.format(number=number)
    if at is None:
        return text + "\n#include <stdlib.h>\n" + typed + steady
    return "".join([*lines[:at], "#include <stdlib.h>\n", typed, *lines[at:]]) + steady


class JudgedEditor(Editor):
    """Types without waiting for answers."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.documents: dict[str, Typed] = {}
        self.observed = Observed()
        self.typing = False
        self.said: list[str] = []  # all messages, as tests/e2e/session_log.py reads them

    @property
    def process_id(self) -> int:
        """The server's."""
        return self._process.pid

    async def show(self, path: Path, text: str) -> Typed:
        """Opens a file with a text that need not be the disk's."""
        document = Typed(path.as_uri(), path.name, text, texts={1: text}, sent={1: time.perf_counter()})
        document.offset = text.index(PLACE, text.index(f" {TYPED_FUNCTION}_")) + len(PLACE)
        self.documents[document.uri] = document
        item = {"uri": document.uri, "languageId": "c", "version": 1, "text": text}
        await self.notify("textDocument/didOpen", {"textDocument": item})
        return document

    async def key(self, document: Typed, key: str) -> None:
        """Types a character; a backspace takes the last one away."""
        start = document.offset - (key == "\b")
        new = "" if key == "\b" else key
        content = {
            "range": {"start": position(document.text, start), "end": position(document.text, document.offset)},
            "text": new,
        }
        document.text = document.text[:start] + new + document.text[document.offset :]
        document.offset = start + len(new)
        document.version += 1
        document.texts[document.version] = document.text
        document.sent[document.version] = time.perf_counter()
        identifier = {"uri": document.uri, "version": document.version}
        await self.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [content]})

    def settled(self) -> bool:
        """Whether nothing is being checked, and what is shown of each document is of its text."""
        return all(document.state == (document.version, "idle") for document in self.documents.values())

    def undecided(self) -> bool:
        """Whether provers have something to say yet of what is shown: a finding that stays possible says why it does."""
        known = [item["data"] for document in self.documents.values() for item in document.shown if item.get("data")]
        return any(finding["status"] == "possible" and not finding.get("reason") for finding in known)

    async def _send(self, message: Json) -> None:
        self._note("client", message)
        await super()._send(message)

    async def _handle(self, message: Json, now: float) -> None:
        self._note("server", message)
        match message:
            case {"method": "textDocument/publishDiagnostics", "params": params} if params["uri"] in self.documents:
                self._judge(self.documents[params["uri"]], params, now)
            case {"method": "everproof/status", "params": params} if params["uri"] in self.documents:
                self.documents[params["uri"]].state = params["version"], params["state"]
                if self.typing:
                    self.observed.waits.extend(params["loop"])
        await super()._handle(message, now)

    def _note(self, who: str, message: Json) -> None:
        self.said.append(json.dumps({"time": time.time(), "from": who, "message": message}) + "\n")

    def _judge(self, document: Typed, params: Json, now: float) -> None:
        version, shown = params.get("version"), params["diagnostics"]
        where = f"{document.name} at version {version}"
        if version not in document.texts or version < document.published:
            self.observed.wrong.append(f"{where}: after {document.published}, and the text is at {document.version}")
            return
        if self.typing:
            self.observed.publishes += 1
            stale = any(item["data"]["stale"] for item in shown if item.get("data"))
            self.observed.stale += stale
            if not stale and version > document.answered:
                self.observed.latencies.append((now - document.sent[version]) * 1000)
                document.answered = version
            self._judge_shown(document, where, document.texts[version], shown)
        document.published, document.shown = version, shown
        document.seen_typed = document.seen_typed or bool(_of_rule(shown, TYPED_RULE, document, version))

    def _judge_shown(self, document: Typed, where: str, text: str, shown: list[Json]) -> None:
        steady = [_words(text, item["range"]) for item in shown if item["code"] == STEADY_RULE]
        if steady.count(STEADY_WORDS) != 1:
            self.observed.wrong.append(f"{where}: the finding that nobody edits is at {steady}")
        before, after = _fingerprints(document.shown), _fingerprints(shown)
        for fingerprint in before - after:
            document.gone[fingerprint] = document.version
        for fingerprint in (after - before) & document.gone.keys():
            if not _of_rule(
                [item for item in shown if _fingerprint(item) == fingerprint], TYPED_RULE, document, document.version
            ):
                self.observed.wrong.append(f"{where}: {fingerprint} was gone since version {document.gone[fingerprint]}")


def _of_rule(shown: list[Json], rule: str, document: Typed, version: int) -> list[Json]:
    """The findings of a rule in the function that is typed into."""
    text = document.texts[version].splitlines()
    first = next(index for index, line in enumerate(text) if f" {TYPED_FUNCTION}_" in line)
    last = next(index for index, line in enumerate(text) if index > first and line.startswith("}"))
    return [item for item in shown if item["code"] == rule and first <= item["range"]["start"]["line"] <= last]


def typed_findings(document: Typed) -> list[Json]:
    """What is shown of the defect that was typed."""
    return _of_rule(document.shown, TYPED_RULE, document, document.version)


def _fingerprint(item: Json) -> Any:
    return (item.get("data") or {}).get("fingerprint")


def _fingerprints(shown: list[Json]) -> set[str]:
    return {_fingerprint(item) for item in shown if _fingerprint(item) is not None}


def _words(text: str, range_: Json) -> str:
    """The text of a range, in ASCII lines."""
    lines = text.split("\n")
    start, end = range_["start"], range_["end"]
    if start["line"] != end["line"]:
        return "\n".join(lines[start["line"] : end["line"] + 1])
    words: str = lines[start["line"]][start["character"] : end["character"]]
    return words
