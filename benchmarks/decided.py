"""Has the findings of real programs decided: `python -m benchmarks.decided [--seconds S] [--jobs N] [NAME ...]`, as Markdown.

A program is one of `benchmarks.programs` or `benchmarks.real_sources`, or the path of a `compile_commands.json`, or, as
`NAME-release`, a library of `benchmarks.releases`, of which the newest release is meant. Its
possible findings are asked about as `everproof check` asks, by processes with the budget of `--task-timeout`; what is refuted
makes room for others with the same cause, which are asked about, too. Times of a finding are those of its process, without the
queue.

With `--processor` the questions are asked in this process, one after the other, and seconds are those of the processor: for
machines that have other work to do, on which seconds of the clock say little.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from analysis.api import Checker
from analysis.cfa.graph import Places
from analysis.engines.automaton.engine import Analysis
from analysis.engines.automaton.report.suspicions import Error, Suspicion
from analysis.model.budgets import budget_of
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Finding
from analysis.session.entries import choose_entries
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.program_slices import Contents, Slicer
from analysis.session.provers.asking.question import Question, finding_question
from analysis.session.provers.processes.prover_pool import Pool
from analysis.session.provers.processes.task_outcome import Budget, Outcome, reason_of
from analysis.session.provers.proofs import WORK
from benchmarks import releases
from benchmarks.programs import PROGRAMS
from benchmarks.real_sources import PROJECTS, provide
from benchmarks.sources import FetchError

_RELEASE = "-release"


@dataclass(frozen=True)
class Row:
    """One finding and what became of it, in this many milliseconds of a process."""

    finding: Finding
    decided: Decided
    ms: float


@dataclass(frozen=True)
class Measured:
    """All findings of a program that were asked about. Seconds: of the check, of all questions as one waits for them."""

    rows: tuple[Row, ...]
    check: float
    questions: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decided", description="Have the findings of programs decided.")
    names = [*PROGRAMS, *PROJECTS, *(name + _RELEASE for name in releases.LIBRARIES)]
    parser.add_argument("names", nargs="*", help=f"which programs: {', '.join(names)} (default: spin, sendmail, hiredis-release)")
    parser.add_argument("--seconds", type=float, default=5.0, help="for one finding (default: 5)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a processor)")
    parser.add_argument("--processor", action="store_true", help="in this process, by the time of the processor")
    parser.add_argument("--most", type=int, default=None, help="ask about so many of the first findings of each (default: all)")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in names and not Path(name).is_file()]
    if unknown:
        parser.error(f"no program {unknown[0]!r}; there are {', '.join(names)}")
    try:
        for name in given.names or ["spin", "sendmail", "hiredis-release"]:
            measured = measure(name, given.seconds, given.jobs, given.processor, given.most)
            where = "one process, by the time of the processor" if given.processor else f"{given.jobs} processes"
            print(table(name, measured, given.seconds, where), flush=True)
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def measure(name: str, seconds: float, jobs: int, processor: bool, most: int | None = None) -> Measured:
    """All findings of a program, decided, or the first `most`. Raises FetchError."""
    limits = msgspec.structs.replace(Limits(), task_seconds=seconds)
    options, paths = Options(limits=limits), list[str]()
    if name.endswith(_RELEASE):
        paths = [str(releases.provide(name.removesuffix(_RELEASE))[-1])]
    else:
        options = Options(limits=limits, compile_commands=name if Path(name).is_file() else str(provide(name)))
    checker = Checker(options, jobs=jobs)
    checker.open(paths)
    began = time.perf_counter()
    view, analysis = checker.explore()
    analysis.findings(view.places)
    checked = time.perf_counter() - began
    pool = _Alone() if processor else Pool(WORK, jobs)
    asking, began = _Asking(analysis, view.places, options, pool, most), time.perf_counter()
    try:
        while asking.round():
            analysis.findings(view.places)
    finally:
        pool.close()
    return Measured(tuple(asking.rows), checked, time.perf_counter() - began)


class _Alone:
    """What `Pool` does, in this process, whose clock is that of the processor from here on."""

    def __init__(self) -> None:
        from analysis.session.provers.asking.answering import answer  # it loads the solver

        self._answer = answer
        self._waiting: list[tuple[int, Question]] = []
        time.monotonic = time.process_time

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return len(self._waiting)

    def submit(self, task: Question, budget: Budget) -> int:
        """Takes a task, for later; its ticket. The budget is in the question."""
        self._waiting.append((id(task), task))
        return id(task)

    def wait(self) -> None:
        """Nothing: `take` does the work."""

    def take(self) -> list[Outcome]:
        """Does the next task."""
        ticket, task = self._waiting.pop(0)
        began = time.process_time()
        answer = self._answer(task)
        return [Outcome(ticket, "", answer, ms=(time.process_time() - began) * 1000)]

    def close(self) -> None:
        """Nothing."""


class _Asking:
    """Asks about findings until there are no others."""

    def __init__(self, analysis: Analysis, places: Places, options: Options, pool: Pool | _Alone, most: int | None) -> None:
        self._analysis = analysis
        self._places = places
        self._options = options
        self._budget = Budget(budget_of(options.budget, options.limits).finding, options.limits.task_megabytes)
        entries, _ = choose_entries(analysis.program, options.entries)
        self._slicer = Slicer(analysis.program, entries, Contents())
        self._asked: set[Error] = set()
        self._most = most
        self._pool = pool
        self.rows: list[Row] = []

    def round(self) -> bool:
        """Asks about all findings that were not asked about; whether any was refuted."""
        findings = {f.fingerprint: f for f in self._analysis.findings(self._places)}
        tickets: dict[int, Suspicion] = {}
        for suspicion in self._analysis.suspicions():
            if suspicion.error not in self._asked and (self._most is None or len(self._asked) < self._most):
                self._asked.add(suspicion.error)
                question = finding_question(
                    suspicion, self._slicer.slice(suspicion.function), self._options, self._budget.seconds
                )
                tickets[self._pool.submit(question, self._budget)] = suspicion
        refuted = set(self._analysis.refuted)
        while self._pool.open:
            self._pool.wait()
            for outcome in self._pool.take():
                suspicion, decided = tickets[outcome.ticket], self._decided(outcome)
                self.rows.append(Row(findings[suspicion.fingerprint], decided, outcome.ms))
                if decided.status == "refuted":
                    refuted.add(suspicion.error)
        found_any = refuted != self._analysis.refuted
        self._analysis.refute(frozenset(refuted))
        return found_any

    def _decided(self, outcome: Outcome) -> Decided:
        if outcome.end:
            return Decided("possible", final=False, reason=reason_of(outcome, self._budget))
        answer: Decided = outcome.answer
        return answer


def table(name: str, measured: Measured, seconds: float, where: str) -> str:
    """What became of a program's findings, as Markdown."""
    rows = measured.rows
    counts = Counter(row.decided.status for row in rows)
    times = sorted(row.ms / 1000 for row in rows) or [0.0]
    ran = sum(row.decided.reason.startswith("from the entry") for row in rows if row.decided.status == "possible")
    lines = [f"### {name}: {len(rows)} findings, {seconds:g} s each at most, {where}", ""]
    lines += ["| confirmed | refuted | left | of these with a run from the function's entry | seconds each | all | the check |"]
    lines += ["|---|---|---|---|---|---|---|"]
    cells = [counts["confirmed"], counts["refuted"], counts["possible"], ran]
    spread = f"{statistics.median(times):.1f} (at most {times[-1]:.1f})"
    lines += [f"| {' | '.join(map(str, cells))} | {spread} | {measured.questions:.0f} | {measured.check:.0f} |", ""]
    lines += ["| place | rule | status | s | why |", "|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: (row.finding.place.path, row.finding.place.range, row.finding.rule)):
        place = f"{Path(row.finding.place.path).name}:{row.finding.place.range.start.line} {row.finding.function}"
        why = row.decided.observed if row.decided.status == "confirmed" else row.decided.reason
        lines.append(f"| {place} | {row.finding.rule} | {row.decided.status} | {row.ms / 1000:.1f} | {why.replace('|', '/')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
