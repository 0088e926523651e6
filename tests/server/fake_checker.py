"""A checker process whose findings are written in the text it is given, and that can be ordered to fail.

A word BUG is a finding of null-dereference, with a trace of two steps: the first line of the file, and the word.
`int NAME(` at the start of a line is a function. A word in a text of an open file makes it misbehave on the next check:

CRASH     it ends with exit code 3, once for each file name in the folder given by --state
GARBAGE   it sends bytes that are no message, once in the same way
HANG      it announces the check and never answers
SLOW      it announces the check and answers when a file `go` appears in the folder given by --state
FAILED    it answers that the check could not be done
BROKEN    the functions of the file are stale
ALONE     the first file is reported by itself before anything else happens
DOUBT     no finding is decided, and none has a reason
UNDECIDED it does not say that provers have said all
SYNTAX    the text there does not parse
MESSAGE   it says something about the line
AUDITED   an audit has found nothing; AUDITWRONG: a difference
LOUD      it prints to what it thinks is standard output
LOOP      the function has an invariant there
CONTRACTS functions have contracts, also `free`, which no file defines; nine things are known of each that a file defines
PARTLY    the same, and not all is known yet
FIXES     a finding has two fixes: the word goes, or becomes 0
BLOCKED   it does not answer questions about fixes
MUTE      it does not answer questions about contracts
KEPT      each function was edited, and its contract is as before
CHANGED   the same, and its contract is another one
"""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from analysis import wire
from analysis.model.derivation import Configuration, Derivation, EntryState, FunctionDerivations
from analysis.model.places import Place, Position, Range
from analysis.model.report import Count, Finding, FunctionReport, Invariant, Message, RuleVerdict, Times, TraceStep, Work
from analysis.model.text_changes import Fix, TextChange

RULE = "null-dereference"
FUNCTION = re.compile(r"^int (\w+)\(")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")


class FakeChecker:
    def __init__(self, output: BinaryIO, state: Path) -> None:
        self.output = output
        self.state = state
        self.texts: dict[str, tuple[int, str]] = {}
        self.known: set[str] = set()
        self.folders: tuple[str, ...] = ()
        self.doubts = False

    def send(self, event: wire.Event) -> None:
        self.output.write(wire.frame(event))
        self.output.flush()

    def handle(self, request: wire.Request) -> None:
        match request:
            case wire.Configure():
                self.folders = request.folders
                (self.state / "store").write_text(str(request.store))
                self.log(f"configure {len(request.folders)} {request.options.trusted} {','.join(request.options.rules)}")
            case wire.Edit(path=path, version=version, text=text, first=first):
                self.log(f"edit {os.path.basename(path)} {version if text is not None else 'disk'}")
                if first is not None:
                    (self.state / "first").write_text(first)
                if text is None:
                    self.texts.pop(path, None)
                else:
                    self.texts[path] = (version, text)
                self.known.add(path)
            case wire.Cancel():
                self.log("cancel")
                self.send(wire.Cancelled(request.generation))
            case wire.ClearStore():
                self.log("clear store")
            case wire.Check():
                self.log("full check" if request.full else "check")
                self.check(request)
            case wire.Derive():
                self.send(wire.Derived(request.generation, self.derivations(request.path, request.function)))
            case wire.AskContract():
                self.log(f"contract {request.function}")
                if "MUTE" not in self.words():
                    self.send(wire.ToldContract(request.generation, self.contract(request.function)))
            case wire.AskFixes(path=path):
                self.log(f"fixes {os.path.basename(path)}")
                if "BLOCKED" not in self.words():
                    self.send(wire.ToldFixes(request.generation, tuple(self.fixes(path))))
            case wire.Saved(path=path, version=version):
                self.log(f"saved {os.path.basename(path)} {version}")
            case wire.Ping():
                self.send(wire.Pong(request.generation))
            case wire.Shutdown():
                self.log("shutdown")

    def check(self, request: wire.Check) -> None:
        words = self.words()
        self.doubts = "DOUBT" in words
        if "ALONE" in words:
            self.report(request.generation, request.focus[0], alone=True)
        if "LOUD" in words:
            print("x" * 10_000)
        if "CRASH" in words and self.first_time("crash"):
            os._exit(3)
        if "CRASHES" in words:
            os._exit(3)
        if "GARBAGE" in words and self.first_time("garbage"):
            self.output.write(b"\xff" * 100)
            self.output.flush()
        if words & {"HANG", "SLOW"}:
            self.send(wire.Progress(request.generation, "checking slowly", 10))
        if "HANG" in words:
            while True:
                select.select([], [], [])
        if "SLOW" in words:
            with open(self.state / "go", "rb") as fifo:
                fifo.read(1)
        if "FAILED" in words:
            self.send(wire.Failed(request.generation, "The rules could not be read."))
            return
        for path in [*request.focus, *sorted(self.known - set(request.focus))]:
            self.report(request.generation, path)
        work = Work(Count(len(self.known), 1), Count(), Count(), Count(2, 1))
        self.send(wire.CheckDone(request.generation, work, Times(total=12.0), ()))
        if words & {"AUDITED", "AUDITWRONG"}:
            self.send(wire.AuditDone(request.generation, "self-audit: as it was said", "AUDITWRONG" in words))
        if "UNDECIDED" not in words:
            self.send(wire.Decided(request.generation))
        if words & {"KEPT", "CHANGED"}:
            self.send(wire.ContractChanges(request.generation, "program", tuple(self.changes(is_same="KEPT" in words))))

    def words(self) -> set[str]:
        return set(re.findall(r"[A-Z]+", " ".join(text for _, text in self.texts.values())))

    def contract(self, function: str) -> wire.ContractText | None:
        if "CONTRACTS" not in self.words():
            return None
        if function == "free":
            table = wire.ContractLine("frees argument 1", "from the table of library functions")
            return wire.ContractText("free", "void free(void *)", (table,))
        found = next((one for one in self.functions() if one[2] == function), None)
        if found is None:
            return None
        lines = (wire.ContractLine("expects `p != NULL`", "proved"), wire.ContractLine("may return NULL", "seen in the code"))
        path, line, name = found
        return wire.ContractText(
            name, f"int {name}(int *p)", lines, 7, "all 3 callers keep it", path, line, "PARTLY" not in self.words()
        )

    def fixes(self, path: str) -> Iterator[Fix]:
        """Two fixes of the first finding of a file."""
        text = self.texts[path][1]
        if "FIXES" in text:
            line = next(number for number, line in enumerate(LINE.findall(text), start=1) if "BUG" in line)
            column = LINE.findall(text)[line - 1].index("BUG") + 1
            place = Range(Position(line, column), Position(line, column + 3))
            yield Fix("take it out", path, (TextChange(place, ""),))
            yield Fix("make it 0", path, (TextChange(place, "0"),))

    def changes(self, *, is_same: bool) -> Iterator[wire.ContractChange]:
        for path, _, name in self.functions():
            text = "contract unchanged for 14 callers" if is_same else "contract changed: may now return NULL — 3 callers"
            yield wire.ContractChange(path, name, text, is_same)

    def functions(self) -> Iterator[tuple[str, int, str]]:
        """The functions of open files: the path, the line and the name of each."""
        for path, (_, text) in self.texts.items():
            for number, line in enumerate(LINE.findall(text), start=1):
                if match := FUNCTION.match(line):
                    yield path, number, match.group(1)

    def report(self, generation: int, path: str, *, alone: bool = False) -> None:
        version, text = self.texts.get(path, (None, None))
        if text is None:
            text = Path(path).read_text(encoding="utf-8") if os.path.exists(path) else ""
        findings, functions, messages, loops = [], [], [], []
        name = "?"
        for number, line in enumerate(LINE.findall(text), start=1):
            match = FUNCTION.match(line)
            if match:
                name = match.group(1)
                place = Place(path, Range(Position(number, match.start(1) + 1), Position(number, match.end(1) + 1)))
                functions.append(FunctionReport(name, place, {}, "BROKEN" in text, (f"{name} returns an int",)))
            if "LOOP" in line:
                start = Position(number, line.index("LOOP") + 1)
                loops.append((name, Invariant(RULE, Place(path, Range(start, start)), "n >= 0")))
            if "MESSAGE" in line:
                messages.append(Message("warning", path, "This line is not understood.", number))
            if "SYNTAX" in line:
                column = line.index("SYNTAX") + 1
                messages.append(Message("warning", path, "This does not parse.", number, column, column + 6, syntax=True))
            for bug in re.finditer("BUG", line):
                findings.append(self.finding(path, number, bug.start() + 1, name, len(findings)))
        functions = [with_verdicts(function, findings) for function in functions]
        functions = [
            msgspec.structs.replace(function, invariants=tuple(found for name, found in loops if name == function.name))
            for function in functions
        ]
        self.send(wire.FileResult(generation, path, version, tuple(findings), tuple(functions), tuple(messages), alone))

    def derivations(self, path: str, function: str) -> FunctionDerivations | None:
        """A derivation graph in which the function's first line leads to its second. None if the file does
        not have the function."""
        _, text = self.texts.get(path, (None, ""))
        if not any(match.group(1) == function for line in LINE.findall(text) if (match := FUNCTION.match(line))):
            return None
        places = [Place(path, Range(Position(line, 1), Position(line, 2))) for line in (1, 2)]
        return FunctionDerivations(
            function,
            (EntryState("nothing", True, (), ("nothing",)),),
            (
                Configuration(2, 0, "nothing", False, places[0]),
                Configuration(3, 0, "p is null", True, places[1]),
                Configuration(3, 0, "use-after-free: p is freed", False, places[1]),
            ),
            (Derivation(0, 1, "p = 0", ("callee",), False),),
            7,
        )

    def finding(self, path: str, line: int, column: int, function: str, index: int) -> Finding:
        place = Place(path, Range(Position(line, column), Position(line, column + 3)))
        start = Place(path, Range(Position(1, 1), Position(1, 2)))
        trace = (
            TraceStep(start, function, 0, "entry", f"{function}()"),
            TraceStep(place, function, 1, "error", "*p", {"p": "NULL"}),
        )
        fingerprint = f"{os.path.basename(path)}:{function}:{index}"
        status = "confirmed" if index % 2 else "possible"
        reason, assumptions = (None, ("f() is called with 0",)) if index % 2 else ("a loop without bound", ())
        if self.doubts:
            status, reason, assumptions = "possible", None, ()
        return Finding(RULE, status, "error", "p may be null here", place, function, fingerprint, trace, reason, assumptions)

    def first_time(self, name: str) -> bool:
        mark = self.state / name
        if mark.exists():
            return False
        mark.touch()
        return True

    def log(self, line: str) -> None:
        with open(self.state / "log", "a", encoding="utf-8") as log:
            log.write(line + "\n")


def with_verdicts(function: FunctionReport, findings: list[Finding]) -> FunctionReport:
    violated = any(finding.function == function.name for finding in findings)
    assumed = ("no signed overflow",)
    verdict = RuleVerdict("violated" if violated else "safe", None, assumed, "automaton", certified=not violated)
    unknown = RuleVerdict("unknown", "not decided by this engine", (), "automaton")
    verdicts = {RULE: verdict, "memory-leak": unknown} if function.name.startswith("unknown") else {RULE: verdict}
    return FunctionReport(function.name, function.place, verdicts, function.stale, function.summary)


def main() -> None:
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    checker = FakeChecker(output, Path(sys.argv[sys.argv.index("--state") + 1]))
    (checker.state / "pid").write_text(str(os.getpid()))
    while (request := wire.read_request(sys.stdin.buffer)) is not None:
        checker.handle(request)
        if isinstance(request, wire.Shutdown):
            return


if __name__ == "__main__":
    main()
