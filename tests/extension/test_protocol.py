"""`protocol.ts` says what the server sends beyond LSP: the same fields, of the same types.

The class: a field is renamed, added or dropped on one side, and the extension shows `undefined`. The payloads here are made by
the server's own code; each must have exactly the fields of the extension's interface.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, get_args

import pytest
from lsprotocol import types
from pygls.protocol import default_converter

from analysis.model.derivation import Configuration, Derivation, EntryState, FunctionDerivations
from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding, FunctionReport, RuleVerdict, StepKind, Times, TraceStep, Verdict, Work
from analysis.wire import CheckDone, FileResult, ToldDifference
from server.convert import Converter, Mark
from server.documents import OpenDocuments
from server.features import (
    ci_report,
    commands,
    derivation,
    inlay_hints,
    introduced,
    invariants,
    quick_fixes,
    replaying,
    suppressing,
)
from server.introductions import Introductions
from server.results import Results
from server.session_edits import SessionEdits
from server.status import METHOD, State, Statuses, times

SOURCE = (Path(__file__).resolve().parents[2] / "vscode-extension" / "src" / "protocol.ts").read_text("utf-8")
TOKEN = re.compile(r"'[^']*'|[A-Za-z_]\w*|=>|[{}<>\[\]|;:?,=()]")


class Types:
    """The types of a TypeScript file that has interfaces and aliases only, as nested tuples."""

    def __init__(self, source: str) -> None:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.DOTALL)
        self.named: dict[str, Any] = {}
        for name, body in re.findall(r"export interface (\w+) (\{.*?\n\})", text, re.DOTALL):
            self._tokens = TOKEN.findall(body)
            self.named[name] = self._type()
        for name, body in re.findall(r"export type (\w+) = (.*?;)", text, re.DOTALL):
            self._tokens = TOKEN.findall(body)
            self.named[name] = self._type()

    def _take(self, *expected: str) -> bool:
        """Whether the next token is one of these; it is taken then."""
        if self._tokens and self._tokens[0] in expected:
            self._tokens.pop(0)
            return True
        return False

    def _type(self) -> Any:
        self._take("|")
        parts = [self._postfix()]
        while self._take("|"):
            parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else ("union", *parts)

    def _postfix(self) -> Any:
        self._take("readonly")
        found = self._primary()
        while self._take("["):
            assert self._take("]")
            found = ("array", found)
        return found

    def _primary(self) -> Any:
        if self._take("{"):
            fields = {}
            while not self._take("}"):
                self._take("readonly")
                name, optional = self._tokens.pop(0), self._take("?")
                assert self._take(":"), name
                fields[name] = (optional, self._type())
                self._take(";", ",")
            return ("object", fields)
        name = self._tokens.pop(0)
        if not self._take("<"):
            return ("literal", name[1:-1]) if name.startswith("'") else ("name", name)
        arguments = [self._type()]
        while self._take(","):
            arguments.append(self._type())
        assert self._take(">")
        return arguments[0] if name == "Readonly" else (name, *arguments)

    def problems(self, value: Any, type_: Any, at: str) -> list[str]:
        """What of a JSON value is not as a type says."""
        match type_:
            case ("name", "string" | "number" | "boolean" | "null" as name):
                kinds: dict[str, Any] = {"string": str, "number": (int, float), "boolean": bool, "null": type(None)}
                fits = isinstance(value, kinds[name]) and (name != "number" or not isinstance(value, bool))
                return [] if fits else [f"{at}: {value!r} is not a {name}"]
            case ("name", name):
                return self.problems(value, self.named[name], at)
            case ("literal", text):
                return [] if value == text else [f"{at}: {value!r} is not {text}"]
            case ("union", *parts):
                found = [self.problems(value, part, at) for part in parts]
                return [] if [] in found else min(found, key=len)
            case ("array", item):
                if not isinstance(value, list):
                    return [f"{at}: {value!r} is not a list"]
                return [problem for i, one in enumerate(value) for problem in self.problems(one, item, f"{at}[{i}]")]
            case ("Record", _, item):
                return [problem for key, one in value.items() for problem in self.problems(one, item, f"{at}.{key}")]
            case ("object", fields):
                if not isinstance(value, dict):
                    return [f"{at}: {value!r} is not an object"]
                required = [name for name, (optional, _) in fields.items() if not optional]
                missing = [f"{at}.{name} is missing" for name in required if name not in value]
                more = [f"{at}.{name} is not in protocol.ts" for name in value if name not in fields]
                inner = [self.problems(one, fields[name][1], f"{at}.{name}") for name, one in value.items() if name in fields]
                return missing + more + [problem for part in inner for problem in part]
        raise AssertionError(type_)


TYPES = Types(SOURCE)
PATH = "/w/a.c"
PLACE = Place(PATH, Range(Position(1, 5), Position(1, 6)))
URI = "file:///w/a.c"
STEPS = tuple(TraceStep(PLACE, "f", 0, kind, "p == 0", {"p": "0"}) for kind in get_args(StepKind))
FINDING = Finding("null-dereference", "possible", "warning", "p may be null", PLACE, "f", "abc", STEPS, "it was cut off", ("x",))
FUNCTIONS = tuple(
    FunctionReport(name, PLACE, {"null-dereference": RuleVerdict(name, None, (), "automaton")}) for name in get_args(Verdict)
)


class Server:
    """As much of the server as makes payloads: its parts, and the commands that were registered."""

    def __init__(self) -> None:
        self.documents = OpenDocuments("file:///w")
        self.documents.put_text_document(types.TextDocumentItem(URI, "c", 3, "int f(int *p) { return *p; }\n"))
        self.results = Results(self.documents)
        self.converter = Converter(self.documents)
        self.scheduler = self
        self.edits = SessionEdits(self.documents)
        self.introductions = Introductions(self.edits)
        self.commands: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {}
        document = self.documents.at_path(PATH)
        assert document is not None
        document.sent(1)
        state = self.results.apply(FileResult(1, PATH, 3, (FINDING,), FUNCTIONS, ()))
        assert state is not None

    def command(self, name: str) -> Callable[[Any], None]:
        return lambda function: self.commands.update({name: function})

    async def full_check(self) -> str | None:
        return "cancelled"

    async def difference(self, path: str) -> ToldDifference:
        return ToldDifference(1, "HEAD", "--- a.c\n")

    async def derivations(self, path: str, function: str, line: int | None) -> FunctionDerivations:
        entry = EntryState("nothing", True, ("g",), ("p is null",))
        configuration, derived = Configuration(2, 0, "nothing", False, PLACE), Derivation(0, 0, "p = 0", ("g",), False)
        return FunctionDerivations(function, (entry,), (configuration,), (derived,), left_out=7)


def plain(value: Any) -> Any:
    """A payload as it is on the wire."""
    return json.loads(json.dumps(default_converter().unstructure(value)))


@pytest.fixture
def server() -> Server:
    server = Server()
    commands.register(server)  # type: ignore[arg-type]
    derivation.register(server)  # type: ignore[arg-type]
    introduced.register(server)  # type: ignore[arg-type]
    return server


def problems(value: Any, name: str) -> list[str]:
    return TYPES.problems(plain(value), ("name", name), name)


def test_the_status_of_a_document(server: Server) -> None:
    [document] = server.documents.open_c()
    done = CheckDone(1, Work(), Times(), ())
    news = Statuses(server.results, server.converter).payload(document, "idle", None)
    assert [function["verdict"] for function in news["functions"]] == list(get_args(Verdict))
    assert problems({**news, "times": times(done), "memory": 1 << 20}, "DocumentStatus") == []
    assert problems({**news, "state": "asleep"}, "DocumentStatus") == ["DocumentStatus.state: 'asleep' is not checking"]


async def test_the_answers_of_commands(server: Server) -> None:
    steps = await server.commands[commands.TRACE](URI, FINDING.fingerprint)
    assert len(steps) == len(get_args(StepKind))
    assert [problem for step in steps for problem in problems(step, "TraceStep")] == []
    assert problems(await server.commands[derivation.DERIVATION](URI, "f"), "FunctionDerivations") == []
    assert problems(await server.commands[commands.FULL_CHECK](), "FullCheckResult") == []


def test_the_data_of_a_finding(server: Server) -> None:
    [diagnostic] = server.converter.diagnostics(server.results, PATH, unknown_hints=False)
    assert problems(diagnostic.data, "FindingData") == []


async def test_what_is_said_of_a_reference(server: Server) -> None:
    """The document is edited, and the finding is new after that edit."""
    server.introductions.check_finished(1, ())
    change = types.TextDocumentContentChangePartial(range=types.Range(types.Position(0, 0), types.Position(0, 0)), text="\n")
    server.documents.update_text_document(types.VersionedTextDocumentIdentifier(4, URI), change)
    document = server.documents.at_path(PATH)
    assert document is not None
    server.results.edited(PATH, document.take_edits())
    server.edits.note(document, document.take_changes())
    document.sent(2)
    server.introductions.check_started(2)
    state = server.results.apply(FileResult(2, PATH, 4, (FINDING,), FUNCTIONS, (), reference="HEAD", since=("new",)))
    assert state is not None
    server.introductions.file_checked(state, (), 2)
    news = Statuses(server.results, server.converter).payload(document, "idle", None)
    assert news["reference"] == {"name": "HEAD", "new": 1, "older": 0, "text": "1 new since HEAD, 0 older"}
    assert problems({**news, "times": {}, "memory": 1}, "DocumentStatus") == []
    answer = await server.commands[introduced.INTRODUCED](URI, FINDING.fingerprint)
    assert answer["edit"]["number"] == 1
    assert problems(answer, "Introduction") == []
    marking = Converter(server.documents, lambda _state, _finding: Mark("new", "HEAD", 1, 4, in_ci=True))
    [diagnostic] = marking.diagnostics(server.results, PATH, unknown_hints=False)
    assert diagnostic.data["introduced"] == {"edit": 1, "version": 4}
    assert problems(diagnostic.data, "FindingData") == []


def test_the_names_of_commands_and_of_the_notification() -> None:
    named = dict(re.findall(r"^  (\w+): '(everproof\.\w+)',$", SOURCE, re.MULTILINE))
    assert sorted(named.values()) == sorted(
        (
            commands.FULL_CHECK,
            commands.TRACE,
            commands.STATUS,
            commands.CLEAR_STORE,
            commands.EXPLAIN,
            derivation.DERIVATION,
            quick_fixes.FIX,
            replaying.REPLAY,
            suppressing.SUPPRESS,
            inlay_hints.STATES,
            introduced.INTRODUCED,
            invariants.INVARIANTS,
            ci_report.OPEN_SARIF,
        )
    )
    assert f"export const STATUS = '{METHOD}';" in SOURCE


def test_the_values_that_a_field_can_have() -> None:
    literals = {name: {text for kind, text in TYPES.named[name][1:] if kind == "literal"} for name in ("Verdict",)}
    status, step = TYPES.named["DocumentStatus"][1], TYPES.named["TraceStep"][1]
    assert literals["Verdict"] == set(get_args(Verdict))
    assert {text for _, text in status["state"][1][1:]} == set(get_args(State))
    assert {text for _, text in step["kind"][1][1:]} == set(get_args(StepKind))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"complete": True, "reason": None, "heldBack": 0}, "findings is missing"),
        ({"complete": True, "reason": None, "heldBack": 0, "findings": "1"}, "findings: '1' is not a number"),
        ({"complete": True, "reason": None, "heldBack": 0, "findings": True}, "findings: True is not a number"),
        ({"complete": True, "reason": None, "heldBack": 0, "findings": 1, "count": 1}, "count is not in protocol.ts"),
    ],
)
def test_a_difference_is_noticed(changed: dict[str, Any], problem: str) -> None:
    assert problems(changed, "FullCheckResult") == [f"FullCheckResult.{problem}"]
