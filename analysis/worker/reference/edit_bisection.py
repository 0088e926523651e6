"""Which of several edits has introduced a finding: bisection over the texts between them.

A finding that only provers find is looked for with them. Where a finding comes and goes within the edits, the step that is
found is one that introduces it.
"""

from __future__ import annotations

from analysis.api import Checker
from analysis.model.report import Finding
from analysis.model.same_findings import is_another
from analysis.worker.reference.task import BisectionTask


def introducing_steps(checker: Checker, task: BisectionTask) -> dict[str, int]:
    """The step, from 1, that introduces each finding of the task; 0 if it was there before. `checker` has the program open."""
    versions = _Versions(checker, task)
    return {one: step for one in task.fingerprints if (step := versions.first(one)) is not None}


class _Versions:
    """The texts after each step, and the findings there, once they were asked for."""

    def __init__(self, checker: Checker, task: BisectionTask) -> None:
        self._checker = checker
        self._task = task
        self._now: dict[str, str] = {}
        self._found: dict[tuple[int, bool], dict[str, Finding]] = {}

    def first(self, fingerprint: str) -> int | None:
        """The first step after which the finding is there, up to the last; None if it is not there at the end."""
        last = len(self._task.steps)
        proves = fingerprint not in self._findings(last, proves=False)
        found = self._findings(last, proves=proves).get(fingerprint)
        if found is None:
            return None
        if self._is_there(found, 0, proves=proves):
            return 0
        absent, present = 0, last
        while present - absent > 1:
            middle = (absent + present) // 2
            if self._is_there(found, middle, proves=proves):
                present = middle
            else:
                absent = middle
        return present

    def _is_there(self, found: Finding, step: int, *, proves: bool) -> bool:
        """Whether a finding is there after a step, and no other one that says the same."""
        then = self._findings(step, proves=proves).get(found.fingerprint)
        return then is not None and not is_another(then, found)

    def _findings(self, step: int, *, proves: bool) -> dict[str, Finding]:
        known = self._found.get((step, proves))
        if known is None:
            self._bring_to(step)
            report = self._checker.check()
            if proves:
                report = self._checker.prove(stays=True)
            known = self._found[step, proves] = {finding.fingerprint: finding for finding in report.findings}
        return known

    def _bring_to(self, step: int) -> None:
        texts = dict(self._task.texts) | dict(self._task.steps[:step])
        for path, text in texts.items():
            if self._now.get(path) != text:
                self._checker.change(path, text)
        self._now = texts
