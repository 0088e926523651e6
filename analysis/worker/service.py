"""What the checker process does with requests, and while there are none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from types import FrameType

import msgspec

from analysis.api import Checker
from analysis.model.collecting import Trimmer, collect_what_is_new
from analysis.model.report import Rechecked, Report, Times, Work
from analysis.model.text_changes import Fix
from analysis.wire import (
    AskContract,
    AskDifference,
    AskFixes,
    AuditDone,
    Bisect,
    Bisected,
    Cancel,
    Cancelled,
    Check,
    CheckDone,
    ClearStore,
    Configure,
    Decided,
    Derive,
    Edit,
    Event,
    Ping,
    Progress,
    ReferenceProblem,
    Request,
    Saved,
    Shutdown,
    Since,
    ToldFixes,
)
from analysis.worker.auditing.self_audit import SelfAudit
from analysis.worker.check_questions import Questions
from analysis.worker.fixing import Fixing
from analysis.worker.programs import Programs
from analysis.worker.reference.following import References
from analysis.worker.reference.task import BisectionTask
from analysis.worker.reported_files import ReportedFiles
from analysis.worker.told_contracts import ToldContracts

FOLLOWS = 1.0  # seconds without a request, after which garbage is collected, and functions are followed that nobody asked about
_QUIET = 4.0  # seconds without a request, after which what is being typed is kept
PAUSE = 0.3  # seconds after a key for which the next one finds nothing at work
SHOWING = 1.0  # seconds that an editor, which may have just started, has to show what is known of a file that was opened


class Service:
    """The state of the checker process. `interrupted` says whether a request waits; `notify` is called when provers have news,
    which wait as long as `has_news`. `now` is a clock."""

    def __init__(
        self,
        send: Callable[[Event], None],
        interrupted: Callable[[], bool],
        notify: Callable[[], None] = lambda: None,
        has_news: Callable[[], bool] = lambda: False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.generation = 0
        self.pending: Check | None = None
        self.looked = True  # for the files of the programs, since the last check
        self._send = send
        self._interrupted = interrupted
        self.programs = Programs(notify)
        self._references = References(notify)
        self._fixing = Fixing(notify, self._told_fixes)
        self.audit = SelfAudit(notify)
        self._reported = ReportedFiles(send, self.programs.version, self._marks)
        self._answered: dict[str, Report] = {}  # the programs' last reports, as they were reported, and of what generation
        self._answered_generation = 0
        self._is_open = False  # whether provers may have something to say of what was reported
        self._at_work: Checker | None = None
        self._told = ToldContracts(interrupted, has_news)
        self._questions = Questions(send, self.programs, self._references, self._told)
        self._trimmer = Trimmer()
        self._typing = False
        self._has_garbage = False  # perhaps, of the last check
        self._now, self._rests_at, self._arrived = now, 0.0, now()

    def accept(self, request: Request | None) -> None:
        """Takes in a request; a check is done later, by `work`."""
        if request is None:
            return
        self.generation = max(self.generation, request.generation)
        self._arrived = self._now()
        self.audit.arrived(request, self._program_of(request))
        self._typing = self._typing and self._is_key(request)
        match request:
            case Configure():
                self.programs.configure(request)
                self._references.configure(request.reference, request.store)
                self.audit.configure(request.self_audit)
                self.audit.began_afresh(self.programs.texts)
                self._fixing.close()
                self._answered = {}
            case Edit():
                self._answered = {}  # what was reported is of texts before this one
                self._fixing.close()
                path = os.path.abspath(request.path)
                if request.text is None or not self.programs.is_open(path):
                    self._reported.turn(path)
                self.programs.edit(path, request)
                self._references.edited(path, request.text, request.first)
            case Check(_, focus, full):
                before = self.pending
                self.pending = Check(request.generation, focus, full or (before is not None and before.full))
            case Cancel():
                self.pending = None
                self.programs.take_back()
                self._send(Cancelled(request.generation))
            case ClearStore():
                self.programs.clear_store()
                self.audit.began_afresh(self.programs.texts)
                self._answered = {}
            case Derive() | AskContract() | AskDifference():
                self._questions.add(request)
            case Saved(_, path, version):
                self.programs.saved(os.path.abspath(path), version)
                self._references.saved(self.programs.checkers)
            case Bisect():
                self._bisect(request)
            case AskFixes():
                self._fixing.ask(request, self.programs)
            case Ping() | Shutdown():
                pass  # the inbox and the loop see to them

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The signal handler for when something newer has arrived: ends the engine's work on what is outdated now."""
        if self._at_work is not None:
            self._at_work.interruption.handle(number, frame)

    def _program_of(self, request: Request) -> str | None:
        """The program that an edit changes."""
        return self.programs.program_of(os.path.abspath(request.path)) if isinstance(request, Edit) else None

    def _is_key(self, request: Request) -> bool:
        """Whether a request changes nothing but the text of a file that was open before."""
        match request:
            case Edit(_, path, _, text):
                return text is not None and self.programs.is_open(os.path.abspath(path))
            case Saved() | AskContract() | AskDifference() | AskFixes() | Bisect():
                return True
            case Check(_, _, full):
                return not full
        return False

    def work(self) -> None:
        """Does the pending check, if there is one. If something newer arrives on the way it stays pending."""
        check = self.pending
        if check is None:
            return
        generation = self.generation
        if not self._typing:
            self.programs.bring_up_to_date()
        was_opened = self._reported.has_turned
        pause = SHOWING if was_opened else PAUSE if self._typing else 0.0
        self._typing, self.looked = True, False
        if check.full:
            self.programs.begin_afresh()
            self.audit.began_afresh(self.programs.texts)
            self.pending = check = Check(check.generation, check.focus)
        reports = self._reports(generation, check.focus, patient=False)
        if reports is None:
            return
        self._reported.report(generation, check.focus, reports)
        final = self._settled(generation, check.focus, reports)
        if final is None:
            return
        rechecked = [function for _, report in (*reports, *final) for function in report.rechecked]
        after = sum((report.times.total for _, report in final), 0.0)
        if was_opened and not self._interrupted():
            for checker in self.programs.checkers.values():
                checker.make_ready()  # all is shown: a file that was opened is not done before the first key finds what it needs
        self.pending, self._has_garbage = None, True
        self.programs.drop_aside()
        checkers = self.programs.checkers
        self._answered = {key: checker.report for key, checker in checkers.items() if checker.report is not None}
        self._answered_generation = generation
        self._is_open = True
        self._send_done(generation, reports, tuple(rechecked), after)
        self._rests_at = self._now() + pause
        self._recheck()

    def _recheck(self) -> None:
        """Has provers look, before the pause, whether what was proved before the last key still holds: that takes them little."""
        for key, checker in list(self.programs.checkers.items()):
            if checker.doubted and not self._interrupted():
                self._at_work = checker
                self._update(key, checker.recheck())
                self._at_work = None

    def _settled(
        self, generation: int, focus: Iterable[str], reports: Sequence[tuple[Checker, Report]]
    ) -> list[tuple[Checker, Report]] | None:
        """Sends what each program's checker has put off until after these reports. None if something newer came."""
        if all(checker.settled for checker, _ in reports):
            return []
        final = self._reports(generation, focus, patient=True)
        if final is not None:
            self._reported.report(generation, (), final)
        return final

    def take_answers(self) -> None:
        """Takes the provers' answers, and sends the results of the files that they change. What is about texts that
        were changed since is reported after the next check."""
        is_compared_anew = self._references.take()
        self._fixing.take()
        for key, checker in self.programs.checkers.items():
            self._update(key, checker.take_answers())
        self._tell_decided()
        if is_compared_anew:
            self._report_again()
        for reason in self._references.take_problems():
            self._send(ReferenceProblem(self.generation, reason))
        for generation, introduced in self._references.take_bisected():
            self._send(Bisected(generation, introduced))
        self._take_audit()

    def _take_audit(self) -> None:
        """Says what an audit came to. If it has found something, nothing that is kept counts any more."""
        done = self.audit.take(self.programs.checkers)
        if done is None:
            return
        self._send(AuditDone(self.generation, done.sentence, done.is_news))
        if done.asks_for == "check from nothing":
            self.programs.clear_store()
            self._answered = {}
            self.audit.began_afresh(self.programs.texts)
        if done.asks_for != "nothing":
            self._typing = False  # so that the files are looked at
            self.pending = Check(self.generation, ())

    def _tell_decided(self) -> None:
        """Says, once, that provers have said all."""
        at_work = self.proving or any(checker.unasked for checker in self.programs.checkers.values())
        if self._is_open and self.pending is None and not at_work:
            self._is_open = False
            self._send(Decided(self._answered_generation))

    def _update(self, key: str, report: Report | None) -> None:
        """Sends what provers have made of a program's last report."""
        if report is not None and key in self._answered and self.pending is None:
            self._answered[key] = report
            self._report_again()

    def _report_again(self) -> None:
        """Sends what is said otherwise now of the last reports; nothing if there is something newer to be said soon."""
        if self.pending is None:
            checkers = self.programs.checkers
            reports = [(checkers[key], known) for key, known in self._answered.items() if key in checkers]
            if reports:
                self._reported.report(self._answered_generation, (), reports)

    def _marks(self, checker: Checker, report: Report) -> tuple[str, tuple[Since | None, ...]]:
        """What a report is compared with, and what its findings are."""
        program = next((key for key, known in self.programs.checkers.items() if known is checker), "")
        return self._references.marks(program, checker, report)

    def _bisect(self, request: Bisect) -> None:
        path = os.path.abspath(request.path)
        checker, program = self.programs.checker_of(path), self.programs.program_of(path)
        if checker is None:
            self._send(Bisected(request.generation, {}))
            return
        task = BisectionTask(program, checker.options, None, request.texts, request.steps, request.fingerprints)
        self._references.bisect(request.generation, program, task)

    def _ask_provers(self) -> None:
        for key, checker in list(self.programs.checkers.items()):
            if checker.unasked and not self._interrupted():
                self._at_work = checker
                self._update(key, checker.ask(self._interrupted))
                self._at_work = None
        self._tell_decided()

    def _told_fixes(self, generation: int, fixes: tuple[Fix, ...] | None) -> None:
        self._send(ToldFixes(generation, fixes))

    def close(self) -> None:
        """Ends all that was started."""
        self._fixing.close()
        self._references.close()
        self.audit.close()
        self.programs.leave()

    def answer(self) -> None:
        """Answers what was asked about the last check, once none is pending."""
        if self.pending is None:
            self._questions.answer()

    def _reports(self, generation: int, focus: Iterable[str], *, patient: bool) -> list[tuple[Checker, Report]] | None:
        """What is known of each program, those in focus first; None if something newer came."""
        reports: list[tuple[Checker, Report]] = []
        for key in self.programs.in_order(focus):
            self._at_work = checker = self.programs.checkers[key]
            report = checker.check_unless(
                self._interrupted,
                progress=self._progress(generation),
                patient=patient,
                before_reading=lambda checker=checker: self._tell_alone(generation, focus, checker),  # type: ignore[misc]
            )
            self._at_work = None
            if report is None:
                return None
            reports.append((checker, report))
        return reports

    def _tell_alone(self, generation: int, focus: Iterable[str], checker: Checker) -> None:
        """Sends what is known before a large program is read: what another machine has found in it, else what the file that the
        user looks at shows by itself. Not in a full check of what is known: less would take the place of more."""
        if self.programs.is_known_aside:
            return
        handed = checker.handed_over()
        if handed is not None:
            self._reported.report_handed_over(generation, checker, handed)
            return
        path = next((path for path in focus if path in checker.files), None)
        found = None if path is None else checker.alone(path, self._interrupted)
        if path is not None and found is not None:
            self._reported.report_alone(generation, path, *found)

    @property
    def proving(self) -> bool:
        """Whether provers are at work."""
        return any(checker.proving for checker in self.programs.checkers.values())

    @property
    def patience(self) -> float | None:
        """How many seconds to wait for a request before `look` or `rest`; None when there is nothing to do then."""
        if self.pending is not None:
            return 0
        if not self.looked:
            return max(0.0, self._rests_at - self._now())
        checkers = self.programs.checkers.values()
        waiting = [checker for checker in checkers if checker.unsaved]
        unasked = any(checker.unasked for checker in checkers)  # findings that provers were not asked about
        compares = any(checker.contracts.unfinished for checker in checkers)
        if any(self._references.wants(*program) for program in self.programs.checkers.items()):
            return 0
        if unasked or compares or any(not checker.typing for checker in waiting) or self.programs.to_wake():
            return 0
        if self._has_garbage or any(checker.contracts.unfollowed for checker in checkers):
            return max(0.0, self._arrived + FOLLOWS - self._now())
        return _QUIET if waiting else self.audit.patience(self.programs.checkers)

    def rest(self) -> None:
        """Does what nobody waits for, while nothing else is asked."""
        self._ask_provers()
        if self._has_garbage and self._now() - self._arrived >= FOLLOWS:
            collect_what_is_new()  # while provers are at work
            self._has_garbage = False
        self.prepare()
        quiet = not self._compare_contracts() and (self.patience != 0 or self._now() - self._arrived >= _QUIET)
        for checker in self.programs.checkers.values():
            if checker.unsaved and (quiet or not checker.typing) and not self._interrupted():
                self._at_work = checker
                checker.save(self._interrupted)
                self._at_work = None
        for key, checker in self.programs.checkers.items():
            self._references.advance(key, checker)
        if self._now() - self._arrived >= FOLLOWS:
            self._follow_contracts()
        if self.patience == 0 and not any(checker.contracts.unfollowed for checker in self.programs.checkers.values()):
            self.audit.advance(self.programs.checkers, self.programs.texts)
        self._trimmer.trim()

    def _compare_contracts(self) -> bool:
        """Whether there was anything to compare: then what is typed has not been quiet for long."""
        was_open = False
        for key, checker in list(self.programs.checkers.items()):
            was_open = was_open or checker.contracts.unfinished
            if checker.contracts.unfinished and not self._interrupted():
                changes = self._told.go_on(key, checker, self._answered_generation)
                if changes is not None:
                    self._send(changes)
        return was_open

    def _follow_contracts(self) -> None:
        """Goes on with contracts that nobody has asked for so far."""
        for checker in list(self.programs.checkers.values()):
            if checker.contracts.unfollowed and not self._interrupted():
                self._told.follow_all(checker)

    def prepare(self) -> None:
        """Makes ready for an edit of a file that is open."""
        for checker in self.programs.to_wake():
            if not self._interrupted():
                checker.wake()

    def look(self) -> None:
        """Looks which files the programs have now; if they are others than at the last check, there is one to do."""
        self.looked = True
        self._references.look()
        if self.programs.bring_up_to_date():
            self.pending = Check(self.generation, ())
        self._tell_decided()

    def _progress(self, generation: int) -> Callable[[str, int, int], None]:
        def show(text: str, done: int, total: int) -> None:
            counted = f"{text} {done} of {total} files" if total else text
            self._send(Progress(generation, counted, 100 * done // total if total else None))

        return show

    def _send_done(
        self, generation: int, reports: list[tuple[Checker, Report]], rechecked: tuple[Rechecked, ...], after: float
    ) -> None:
        """Says that nothing more comes for a generation, and what it took; `after` the reports, some milliseconds."""
        total = sum((report.times.total for _, report in reports), after)
        one = reports[0][1] if len(reports) == 1 else None
        loose = tuple(m for _, report in reports for m in report.messages if not m.path)
        loose += self.programs.take_messages()
        times = msgspec.structs.replace(one.times if one else Times(), afterwards=after, total=total)
        self._send(CheckDone(generation, one.work if one else Work(), times, loose, rechecked))
