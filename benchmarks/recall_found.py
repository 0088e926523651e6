"""What Everproof says of seeded defects, as when somebody makes the mistake in an editor.

The project is opened and checked as it is. Then each seeded file is an unsaved text in turn, and the check goes on from the one
before. A seed is found if there is a finding of a rule that fits, which was not there before, and whose place or trace is in the
function that was changed. It is `shown`, or `held back`; otherwise the seed is `missed`.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from analysis.api import Checker
from analysis.model.options import Engine, Options
from analysis.model.places import Place
from analysis.model.report import Finding, Report
from benchmarks.real_sources import provide
from benchmarks.recall_seeds import Seed

Outcome = Literal["shown", "held back", "missed"]
_NULL = frozenset(("null-dereference", "assertion", "uninitialized-read"))
_TWICE = frozenset(("double-free", "use-after-free", "use-after-close", "invalid-free"))
FITTING: Mapping[str, frozenset[str]] = {
    "null-check": _NULL,
    "unchecked": _NULL,
    "dropped": frozenset(("memory-leak", "resource-leak", "memory-cleanup")),
    "twice": _TWICE,
    "after": _TWICE | _NULL,  # some projects' macros set what they free to NULL
    "unlock": frozenset(("lock-discipline", "lock-at-exit")),
}
"""The rules that speak of what an operator seeds."""


class Found(NamedTuple):
    """What came of a seed: the findings that fit, those that are new in the function but do not, and the seconds of the check.
    `reason` is what is said of the function for a rule that fits."""

    seed: Seed
    outcome: Outcome
    fitting: tuple[Finding, ...]
    others: tuple[Finding, ...]
    seconds: float
    reason: str


def found(project: str, seeds: Sequence[Seed], engine: Engine = "automaton", jobs: int = 2) -> Iterator[Found]:
    """What is found of the seeds of a project, one after the other. Raises FetchError."""
    checker = Checker(Options(compile_commands=str(provide(project)), engine=engine), jobs=jobs)
    checker.open([])
    before = _checked(checker, engine)
    try:
        for seed in seeds:
            path, began = str(seed.command.path), time.perf_counter()
            checker.change(path, seed.text.decode("utf-8", "replace"))
            report = _checked(checker, engine)
            yield _judged(seed, before, report, time.perf_counter() - began)
            checker.change(path, None)
    finally:
        checker.close()


def _checked(checker: Checker, engine: Engine) -> Report:
    report = checker.check()
    return report if engine == "automaton" else checker.prove(stays=True)


def _judged(seed: Seed, before: Report, after: Report, seconds: float) -> Found:
    new = [finding for finding in _new(before.findings, after.findings) if _touches(finding, seed)]
    fitting = tuple(finding for finding in new if finding.rule in FITTING[seed.site.operator])
    others = tuple(finding for finding in new if finding not in fitting)
    outcome: Outcome = "missed" if not fitting else "shown" if any(finding.shown for finding in fitting) else "held back"
    return Found(seed, outcome, fitting, others, seconds, _reason(seed, after))


def _new(before: Iterable[Finding], after: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of the seeded program that the other one does not have: neither the same one, nor one that says the same of
    the same function and is gone."""
    old = list(before)
    known = {finding.fingerprint for finding in old}
    now = list(after)
    kept = {finding.fingerprint for finding in now}
    gone = Counter(_words(finding) for finding in old if finding.fingerprint not in kept)
    for finding in now:
        if finding.fingerprint not in known:
            if gone[_words(finding)] > 0:
                gone[_words(finding)] -= 1
            else:
                yield finding


def _words(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.function, finding.message


def _touches(finding: Finding, seed: Seed) -> bool:
    return any(_is_within(place, seed) for place in (finding.place, *(step.place for step in finding.trace)))


def _is_within(place: Place, seed: Seed) -> bool:
    first, last = seed.lines
    return os.path.abspath(place.path) == str(seed.command.path) and first <= place.range.start.line <= last


def _reason(seed: Seed, report: Report) -> str:
    """What is said of the function of a seed, for the first rule that fits."""
    for function in report.functions:
        if _is_within(function.place, seed):
            verdicts = [function.verdicts[rule] for rule in sorted(FITTING[seed.site.operator]) if rule in function.verdicts]
            return "; ".join(dict.fromkeys(verdict.reason for verdict in verdicts if verdict.reason))
    return "the function is not in the report"
