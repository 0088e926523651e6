"""When a program is audited, and what comes of it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report
from analysis.model.report_differences import Difference, contradictions, rechecked
from analysis.wire import Cancel, Check, ClearStore, Configure, Edit, Request
from analysis.worker.auditing.audit_report import Edits, report_of, write_report
from analysis.worker.auditing.journal import Journal
from analysis.worker.reference.running_task import RunningTask
from analysis.worker.reference.task import AuditAnswer, AuditTask, ReplayAnswer, ReplayTask

IDLE = 60.0  # seconds without an edit or a check, after which an audit begins


class Audited(msgspec.Struct, frozen=True):
    """What an audit came to, in a sentence. `is_news`: something was found. `asks_for`: the texts are to be looked at again, or
    what is kept is to be dropped and everything to be checked from nothing."""

    sentence: str
    is_news: bool = False
    asks_for: Literal["nothing", "look", "check from nothing"] = "nothing"


class _Found(msgspec.Struct, frozen=True):
    """A difference that is being replayed."""

    program: str
    options: Options
    differences: tuple[Difference, ...]
    task: ReplayTask


class SelfAudit:
    """The audits of the programs. `notify` is called, in another thread, when there is news. `now`: seconds of a clock."""

    def __init__(self, notify: Callable[[], None], now: Callable[[], float] = time.monotonic, seed: int | None = None) -> None:
        self._notify, self._now = notify, now
        self._random = random.Random(seed)
        self._is_wanted = False
        self._last = now()
        self._journal = Journal()
        self._edited: set[str] = set()  # since their last audits
        self._audited: set[str] = set()  # since everything was checked from nothing
        self._suspected: dict[str, tuple[Difference, ...]] = {}  # by the last audit, if nothing was asked since
        self._running: RunningTask | None = None
        self._kept: Report | None = None
        self._found: _Found | None = None
        self._rechecked = self._differences = 0
        self._since = datetime.now().astimezone()

    def configure(self, is_wanted: bool) -> None:
        """Other settings: everything is checked from nothing."""
        self._is_wanted = is_wanted
        self.close()

    def arrived(self, request: Request, program: str | None) -> None:
        """A request came, an edit of a program perhaps. It ends an audit, if it asks for work."""
        if not isinstance(request, Configure | Edit | Check | Cancel | ClearStore):
            return
        self._last = self._now()
        if self._found is None:  # a replay is about earlier edits, and goes on
            self.close()
        self._suspected.clear()
        if isinstance(request, Edit):
            self._journal.edited(request.path, request.text)
        if program is not None:
            self._edited.add(program)

    def began_afresh(self, texts: Mapping[str, str]) -> None:
        """All is checked from nothing, with these texts of the open files."""
        self._journal.begin(texts)
        self._edited.clear()
        self._audited.clear()

    @property
    def is_running(self) -> bool:
        """Whether an audit or a replay is under way."""
        return self._running is not None

    def patience(self, checkers: Mapping[str, Checker]) -> float | None:
        """How many seconds to wait until there is something to audit; None if there is nothing."""
        if self._running is not None or not self._due(checkers):
            return None
        return max(0.0, self._last + IDLE - self._now())

    def advance(self, checkers: Mapping[str, Checker], texts: Mapping[str, str]) -> None:
        """Begins an audit, if it is time. `texts` are those of the open files."""
        if self.patience(checkers) == 0:
            program = self._random.choice(self._due(checkers))
            checker = checkers[program]
            self._kept = checker.report
            self._running = RunningTask(program, AuditTask(program, checker.options, {**texts}), self._notify)

    def take(self, checkers: Mapping[str, Checker]) -> Audited | None:
        """What has come of the audit that runs, compared with what was said when it began."""
        running, kept = self._running, self._kept
        if running is None or not (running.answers or running.is_over):
            return None
        self._running = self._kept = None
        checker, answer = checkers.get(running.program), next(iter(running.answers), None)
        if isinstance(answer, ReplayAnswer):
            return self._replayed(answer)
        if isinstance(answer, AuditAnswer):
            if kept is None or checker is None or checker.report is not kept:
                return None  # something else is known by now
            return self._compared(running.program, kept, answer.report, checker.options)
        self._done(running.program)  # it has died, and would again
        self._found = None
        return None

    def close(self) -> None:
        """Ends what is under way."""
        if self._running is not None:
            self._running.end()
            self._running = None
        self._found = None

    def _due(self, checkers: Mapping[str, Checker]) -> list[str]:
        """The programs to audit, if it is time: those for which something was reused, when all is said of them."""
        if not self._is_wanted:
            return []
        due = (key for key, checker in checkers.items() if self._is_reused(key, checker) and _is_complete(checker))
        return sorted(due)

    def _is_reused(self, program: str, checker: Checker) -> bool:
        report = checker.report
        is_kept = report is not None and report.work.functions.reused > 0 and program not in self._audited
        return program in self._edited or is_kept

    def _done(self, program: str) -> None:
        self._edited.discard(program)
        self._audited.add(program)

    def _compared(self, program: str, kept: Report, fresh: Report, options: Options) -> Audited:
        differences = tuple(contradictions(kept, fresh))
        suspected = self._suspected.pop(program, None)
        if differences and suspected is None:
            self._suspected[program] = differences
            self._edited.add(program)
            return Audited(
                "self-audit: what was kept and what a check from scratch finds differ; looked at again", asks_for="look"
            )
        self._done(program)
        self._rechecked += rechecked(kept)
        differences = tuple(one for one in differences if one in (suspected or ()))
        if not differences:
            return Audited(self._sentence())
        self._differences += len(differences)
        task = ReplayTask(program, options, dict(self._journal.base), tuple(self._journal.steps))
        self._found = found = _Found(program, options, differences, task)
        self._running = RunningTask(program, task, self._notify)
        return Audited(self._written(found, None), is_news=True, asks_for="check from nothing")

    def _replayed(self, answer: ReplayAnswer) -> Audited | None:
        found, self._found = self._found, None
        if found is None or answer.steps is None:
            return None
        edits = Edits(found.task.base, tuple(found.task.steps[number] for number in answer.steps))
        return Audited(self._written(found, edits), is_news=True)

    def _written(self, found: _Found, edits: Edits | None) -> str:
        """Writes the report of a difference, and says so."""
        path = write_report(report_of(found.program, found.options, found.differences, edits))
        where = "its report cannot be written" if path is None else f"please report it, with {path}"
        shown = "" if edits is None else ", which now holds the edits that show it"
        return f"{self._sentence()}; a difference is a defect of Everproof, repaired by a check from scratch; {where}{shown}"

    def _sentence(self) -> str:
        count = "1 difference" if self._differences == 1 else f"{self._differences:,} differences"
        return f"self-audit: {self._rechecked:,} functions and findings re-checked since {self._since:%d %B %H:%M}, {count}"


def _is_complete(checker: Checker) -> bool:
    """Whether all is said of the present texts."""
    return checker.is_current and checker.settled and not (checker.unasked or checker.proving)
