"""The checker process with provers: findings are reported as possible at once, and decided while it waits for requests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from support.prover_program import TEXT

from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.wire import Check, CheckDone, Configure, Decided, Edit, Event, FileResult, decode_event, frame, frame_length

ELSEWHERE = "\nint other(int n)\n{\n    return n + 1;\n}\n"


class Worker:
    """A checker process on one open file."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self.file = str(folder / "a.c")
        self.version = 0
        self._generation = 0
        self._send(Configure(self._next(), Options(limits=Limits(task_seconds=60.0)), (str(folder),), "none"))

    def _next(self) -> int:
        self._generation += 1
        return self._generation

    def _send(self, *requests: Configure | Edit | Check) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(map(frame, requests)))
        self.process.stdin.flush()

    def type(self, text: str) -> None:
        self.version += 1
        self._send(Edit(self._next(), self.file, self.version, text), Check(self._next(), (self.file,)))

    def next(self) -> Event:
        assert self.process.stdout is not None
        header = self.process.stdout.read(4)
        assert len(header) == 4, "the worker ended"
        return decode_event(self.process.stdout.read(frame_length(header)))

    def until(self, holds: Callable[[Event], bool]) -> list[Event]:
        """What it says, up to an event for which it holds."""
        events = [self.next()]
        while not holds(events[-1]):
            events.append(self.next())
        return events

    def results(self) -> list[FileResult]:
        """The results of the check under way, as they come; there may be several, the last one counts."""
        events = self.until(lambda event: isinstance(event, CheckDone))
        return [event for event in events if isinstance(event, FileResult) and event.version == self.version]

    def statuses(self, event: Event) -> dict[str, str]:
        """The findings of a result for the present version, by function."""
        if not isinstance(event, FileResult) or event.version != self.version:
            return {}
        return {finding.function: finding.status for finding in event.findings}


@contextmanager
def worker(folder: Path) -> Iterator[Worker]:
    command = [sys.executable, "-P", "-m", "analysis.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield Worker(process, folder)
            assert process.stdin is not None
            assert process.stderr is not None
            process.stdin.close()
            assert process.wait(60) == 0
            assert process.stderr.read() == b""
        finally:
            process.kill()


def test_possible_first_then_decided_for_the_same_version(tmp_path: Path) -> None:
    with worker(tmp_path) as w:
        w.type(TEXT)
        *_, result = w.results()
        assert w.statuses(result) == {"safe": "possible", "bad": "possible"}
        events = w.until(lambda event: w.statuses(event) == {"bad": "confirmed"})
        last = events[-1]
        assert isinstance(last, FileResult)
        assert (last.version, last.generation) == (result.version, result.generation)
        (finding,) = last.findings
        assert finding.trace[-1].values == {"p": "NULL"}
        assert any(step.values.get("n") == "7" for step in finding.trace)


def test_it_says_once_that_provers_have_said_all(tmp_path: Path) -> None:
    with worker(tmp_path) as w:
        w.type(TEXT)
        events = w.until(lambda event: isinstance(event, Decided))
        [*_, last] = [event for event in events if w.statuses(event)]
        assert w.statuses(last) == {"bad": "confirmed"}
        assert any(isinstance(event, CheckDone) for event in events), "not before the check is complete"
        assert isinstance(last, FileResult)
        assert events[-1] == Decided(last.generation)


def test_an_edit_elsewhere_keeps_what_is_decided(tmp_path: Path) -> None:
    with worker(tmp_path) as w:
        w.type(TEXT)
        w.until(lambda event: w.statuses(event) == {"bad": "confirmed"})
        w.type(TEXT + ELSEWHERE)
        assert {str(w.statuses(result)) for result in w.results()} == {str({"bad": "confirmed"})}


def test_an_edit_of_the_function_decides_it_anew_and_leaves_the_other(tmp_path: Path) -> None:
    with worker(tmp_path) as w:
        w.type(TEXT)
        w.until(lambda event: w.statuses(event) == {"bad": "confirmed"})
        w.type(TEXT.replace("2 * n + n == 21", "2 * n + n == 24"))
        *_, result = w.results()
        assert w.statuses(result) == {"bad": "confirmed"}  # what was refuted stays away until it is decided again
        w.until(lambda event: w.statuses(event) == {"safe": "confirmed", "bad": "confirmed"})


def test_an_edit_is_answered_while_provers_are_busy(tmp_path: Path) -> None:
    with worker(tmp_path) as w:
        w.type(TEXT)
        w.until(lambda event: isinstance(event, CheckDone))
        for count in range(1, 6):
            w.type(TEXT + ELSEWHERE + f"\nint last{count}(void)\n{{\n    return {count};\n}}\n")
            w.until(lambda event: isinstance(event, CheckDone))
        w.until(lambda event: w.statuses(event) == {"bad": "confirmed"})


def test_the_checker_process_never_loads_the_solver(tmp_path: Path) -> None:
    with worker(tmp_path) as w:
        w.type(TEXT)
        w.until(lambda event: w.statuses(event) == {"bad": "confirmed"})
        if os.path.exists("/proc/self/maps"):
            with open(f"/proc/{w.process.pid}/maps") as file:
                assert "z3" not in file.read()
    code = "import sys, analysis.worker.serving, analysis.cli.check; print(sorted(m for m in sys.modules if 'z3' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
