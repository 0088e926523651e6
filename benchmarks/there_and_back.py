"""Empties functions of a program and puts them back, and takes the time of the incremental checks: for `benchmarks.incremental`.

A revision that `revise` refuses is checked from nothing in a session. Its comparisons are the same in both directions, so when
emptying is refused, putting back is taken to be refused too: nothing is computed, and the step counts as Full's time and
that of the attempt. Times are the processor's, not the clock's: the engine has one thread, and other programs disturb it less so.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from analysis.cfa.graph import Program
from analysis.engines.automaton import Algorithm, Analysis, engine
from analysis.engines.automaton.facts.product import ProgramDelta, is_small
from analysis.model.limits import Limits
from analysis.model.report import Finding
from benchmarks.stubs import Edited

ALGORITHMS: tuple[Algorithm, ...] = ("incr-fwd", "incr-back")
NAMES = {"incr-fwd": "IncrFwd", "incr-back": "IncrBack"}


@dataclass(frozen=True)
class Step:
    """One check after functions were put back, in seconds. `refused`: why nothing could be repaired."""

    what: str
    seconds: float
    revise: float = 0.0
    repair: float = 0.0
    refused: str | None = None


@dataclass
class Measured:
    """What was found out about one program; `differs` are the steps after which the findings were others, `other_traces`
    counts those after which only the trace of a finding took another path; `full` are seconds of Full, before and after."""

    name: str
    edited: Edited
    full: list[float]
    configurations: int
    findings: tuple[Finding, ...]
    steps: dict[Algorithm, list[Step]] = field(default_factory=lambda: {algorithm: [] for algorithm in ALGORITHMS})
    shares: dict[float, dict[Algorithm, list[Step]]] = field(default_factory=dict)
    differs: list[str] = field(default_factory=list)
    other_traces: Counter[Algorithm] = field(default_factory=Counter)

    @property
    def full_seconds(self) -> float:
        """The median of Full's times."""
        return statistics.median(self.full)

    def speed_ups(self, steps: Sequence[Step]) -> list[float]:
        """How many times faster than Full the steps were, in their order."""
        return [self.full_seconds / step.seconds for step in steps]


def measure(
    name: str, edited: Edited, sample: int | None, shares: Sequence[float], draws: int, random: Random, runs: int
) -> Measured:
    """The whole experiment on one program: shares of the functions, then one by one, in random order. Ctrl-C ends it early; what
    was measured till then is a sample."""
    gc.disable()  # as in the engine; what steps leave behind is collected between them
    full = [_full(edited)[1] for _ in range(runs + 1)][1:]
    chains = [Chain(edited, algorithm) for algorithm in ALGORITHMS]
    measured = Measured(name, edited, full, chains[0].analysis.graph.configurations, chains[0].findings)
    _settle()
    try:
        names = [name for name in edited.traits if not edited.is_empty(name)]
        before = edited.kept()
        for share in shares:
            kept = measured.shares[share] = {algorithm: [] for algorithm in ALGORITHMS}
            for draw in range(draws):
                some = random.sample(names, max(1, round(share * len(names))))
                steps = _there_and_back(measured, chains, some, f"{share:.0%}, draw {draw + 1}")
                _tell(name, draw, draws, steps, kept)
        if edited.kept() != before:  # what was repaired often is not what was measured
            edited.go_back(before)
            for chain in chains:
                chain.start()
        _settle()
        chosen = random.sample(names, min(sample or len(names), len(names)))
        for number, function in enumerate(chosen):
            _tell(name, number, len(chosen), _there_and_back(measured, chains, [function], function), measured.steps)
        measured.full += [_full(edited)[1] for _ in range(runs)]  # the machine is not as fast at the end as at the beginning
    except KeyboardInterrupt:
        if not measured.steps[ALGORITHMS[0]]:
            raise
        print("ended early; what follows is what was measured so far", file=sys.stderr)
    finally:
        gc.unfreeze()
        gc.enable()
    return measured


def _settle() -> None:
    """What there is now is not looked at again by the collections between the steps."""
    gc.collect()
    gc.freeze()


def _tell(name: str, number: int, of: int, steps: dict[Algorithm, Step], kept: dict[Algorithm, list[Step]]) -> None:
    for algorithm, step in steps.items():
        kept[algorithm].append(step)
    shown = ", ".join(f"{NAMES[algorithm]} {step.seconds:.2f} s" for algorithm, step in steps.items())
    step = steps[ALGORITHMS[0]]
    print(f"{name} {number + 1}/{of} {label(step.what)}: {shown} {step.refused or ''}", file=sys.stderr, flush=True)
    gc.collect()


def label(name: str) -> str:
    """A linkage name without the folders of its file."""
    return name.rpartition("/")[2]


def _full(edited: Edited) -> tuple[Analysis, float, tuple[Finding, ...]]:
    gc.collect()
    began = time.process_time()
    analysis = Analysis(edited.program, edited.rules, edited.limits)
    analysis.run(edited.entries)
    findings = analysis.findings(edited.places)
    return analysis, time.process_time() - began, findings


class Chain:
    """The revisions of a program as one algorithm checks them."""

    def __init__(self, edited: Edited, algorithm: Algorithm) -> None:
        self._edited = edited
        self.algorithm = algorithm
        self.start()

    def start(self) -> None:
        """From nothing."""
        self.analysis, _, self.findings = _full(self._edited)

    def check(self, what: str) -> Step:
        """The present revision, from the one before; when that is refused, nothing is done, and the step is the attempt."""
        edited, places = self._edited, self._edited.places
        began = time.process_time()
        with _timed_parts() as parts:
            repaired = self.analysis.revise(edited.program, edited.entries, self.algorithm)
        if not repaired:
            return Step(what, time.process_time() - began, refused=self._why_refused())
        self.findings = self.analysis.findings(places)
        seconds = time.process_time() - began
        return Step(what, seconds, parts.get("revise", 0.0), parts.get(self.algorithm.replace("-", "_"), 0.0))

    def _why_refused(self) -> str:
        if not self.analysis.graph.complete:
            return "the limit of configurations"
        return why_refused(self.analysis.delta, self._edited.program, self._edited.limits)


@contextmanager
def _timed_parts() -> Iterator[dict[str, float]]:
    """The seconds that the parts of `Analysis.revise` take while this is open; none where nothing is there to be done."""
    seconds: dict[str, float] = {}
    kept: dict[str, Callable[..., Any]] = {name: getattr(engine, name) for name in ("revise", "incr_fwd", "incr_back")}

    def timed(name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            began = time.process_time()
            try:
                return kept[name](*arguments)
            finally:
                seconds[name] = time.process_time() - began

        return call

    for name in kept:
        setattr(engine, name, timed(name))
    try:
        yield seconds
    finally:
        for name, function in kept.items():
            setattr(engine, name, function)


def why_refused(before: ProgramDelta, program: Program, limits: Limits) -> str:
    """Which of the comparisons of `revise` does not hold, for a program in which only bodies differ."""
    if is_small(program, limits.global_edges) != before.thorough:
        return "the program became small, or large"
    return "something else"


def _there_and_back(measured: Measured, chains: Sequence[Chain], names: Sequence[str], what: str) -> dict[Algorithm, Step]:
    """Empties functions and puts them back, for all chains; the steps back."""
    edited = measured.edited
    before = edited.kept()
    edited.empty(names)
    emptied = {chain.algorithm: chain.check(what) for chain in chains}
    if all(step.refused is not None for step in emptied.values()) and all(chain.analysis.graph.complete for chain in chains):
        edited.go_back(before)
        return {algorithm: _from_nothing(measured, step) for algorithm, step in emptied.items()}
    for chain in chains:
        if emptied[chain.algorithm].refused is not None:
            chain.start()
    edited.put_back(names)
    steps: dict[Algorithm, Step] = {}
    for chain in chains:
        step = chain.check(what)
        if step.refused is not None:
            chain.start()
            step = _from_nothing(measured, step)
        steps[chain.algorithm] = step
        difference = describe(measured.findings, chain.findings)
        if not difference and chain.findings != measured.findings:
            measured.other_traces[chain.algorithm] += 1
        if difference:
            measured.differs.append(f"{NAMES[chain.algorithm]}, {label(what)}: {difference}")
            print(f"DIFFERENT FINDINGS in {measured.name}: {measured.differs[-1]}", file=sys.stderr, flush=True)
            chain.start()
    return steps


def _from_nothing(measured: Measured, attempt: Step) -> Step:
    return Step(attempt.what, measured.full_seconds + attempt.seconds, refused=attempt.refused)


def describe(expected: Sequence[Finding], found: Sequence[Finding]) -> str:
    """What differs but the paths that traces take, nothing if nothing does."""
    before, now = Counter(map(_without_trace, expected)), Counter(map(_without_trace, found))
    parts = [f"missing: {_short(finding)}" for finding in before - now] + [f"new: {_short(finding)}" for finding in now - before]
    return "; ".join(parts)


def _without_trace(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, trace=())


def _short(finding: Finding) -> str:
    return f"{finding.rule} in {finding.function}, {Path(finding.place.path).name}:{finding.place.range.start.line + 1}"
