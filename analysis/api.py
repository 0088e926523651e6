"""The facade of the analysis: a `Checker` holds one program, takes edits, and answers with reports.

Its parts do the work; it knows when each of them is asked, and what an edit makes of their last answers:

- `OpenProgram`: files with the texts that they hold now, rules, contracts, units;
- `ProgramCheck`: the engine over the units of a revision;
- `Proofs`: what provers say of the findings and functions of the last check;
- `Reopening`: what an earlier process kept in the store, and what is kept for later ones;
- `Reporting`: all of that as a report;
- `OpenContracts`: what is known of functions for those who call them, when somebody asks.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from analysis.engines.automaton import Algorithm, Analysis
from analysis.model.budgets import budget_of
from analysis.model.derivation import FunctionDerivations
from analysis.model.interruption import Interrupted, Interruption
from analysis.model.options import Options
from analysis.model.report import Message, Rechecked, Report, Work
from analysis.rules.automaton import Rule
from analysis.session.checking import Checked, ProgramCheck, Restriction, nothing_parsed, only_unfinished
from analysis.session.contracts.open_contracts import OpenContracts
from analysis.session.entries import choose_entries
from analysis.session.keeping.known_revisions import KnownRevision
from analysis.session.keeping.reopening import Question, Reopening
from analysis.session.opened import Inspection, OpenProgram
from analysis.session.provers.proofs import PoolMaker, Proofs, local_pool
from analysis.session.reporting import Reporting
from analysis.session.units.built import Built
from analysis.session.units.unit_view import UnitView
from analysis.store.database import Store

_LEAVING = 0.5  # seconds for what is kept at the end
_FEW = 4  # files of a program that are read so fast that nothing is told of one by itself

Progress = Callable[[str, int, int], None]
Stop = Callable[[], bool]


class Provers(NamedTuple):
    """Who is asked: how many provers there are, and what makes a pool of them."""

    jobs: int
    pool: PoolMaker


class _Last(NamedTuple):
    """The last check that was made: of what, and what it answered."""

    question: Question
    units: Sequence[UnitView]
    checked: Checked
    ms: float

    @property
    def understood(self) -> bool:
        """Whether all of the text parses."""
        return _parses(self.units)


def _parses(units: Sequence[UnitView]) -> bool:
    return all(unit.built.parse_errors == 0 for unit in units)


class Checker:
    """Checks one program again and again as it changes. Not for several threads at once.

    `algorithm` is how a check goes on from the one before: ORION's IncrBack, IncrFwd, or from scratch. The first check goes on
    from what is in the `store`; `save` writes to it.

    A check says which findings are possible. Provers, which are processes of their own, decide them: `prove` waits for them,
    `ask` and `take_answers` do not; `notify` is called from another thread when they have answered.

    `progress` functions are called with a short description, the work done, and the total work (0 if it is unknown).

    `report` is the last report. `failed`: in the last check something that was asked for could not be done (a file that cannot be
    read, a rule or an entry that does not exist, nothing that could be parsed); the report's messages say what. `settled`:
    whether the last report was final (see `check_unless`). `restriction`: only what it leaves of the program is checked; the
    store must not hold such answers. `provers` None: as many as `jobs`, on this machine. With `interruption` a signal handler may
    end what cannot ask `stop`. `expects_edits`: other texts of the same files will follow, so that what they need is asked
    of the compiler with the first ones.
    """

    def __init__(
        self,
        options: Options,
        *,
        jobs: int = 1,
        algorithm: Algorithm = "incr-back",
        store: Store | None = None,
        notify: Callable[[], None] = lambda: None,
        restriction: Restriction | None = None,
        provers: Provers | None = None,
        expects_edits: bool = False,
    ) -> None:
        self.options = options
        self.report: Report | None = None
        self.failed = False
        self.settled = True
        self.interruption = Interruption()
        self._algorithm: Algorithm = algorithm
        self._jobs = jobs
        self._part: Checker | None = None  # of one file by itself, before the program is known
        self._program = OpenProgram(options, jobs, expects_edits=expects_edits)
        self._restriction = restriction
        self._check = ProgramCheck(algorithm, jobs, restriction)
        self._reopening = Reopening(store, self._program.texts)
        provers = Provers(jobs, local_pool) if provers is None else provers
        self._proofs = Proofs(store, provers.jobs, notify, provers.pool)
        self._reporting = Reporting(self._program)
        self.contracts = OpenContracts()
        self._last: _Last | None = None
        self._is_kept = False  # the last answer is the store's, of the texts as they are
        self._is_rechecking = False  # of the last report, provers were asked only whether earlier proofs still hold

    # -- the program ----------------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that are checked."""
        return self._program.rules

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the program, as they were named."""
        return self._program.files

    def open(self, paths: Sequence[str]) -> None:
        """Sets which files and folders make the program; none: what the current folder suggests.

        What they lack is in the next report.
        """
        self._program.open(paths)

    def open_workspace(self, folder: str, extra: Sequence[str] = (), role: str = "") -> bool:
        """Makes the program that of a folder of a workspace, or of one file; `extra` files in it need not be on the disk yet.
        What is decided in a `role` other than the folder's own is kept apart in the store, and goes on from what is kept of that.

        Paths are absolute, in the reports as well. True if the files, or their flags, are others than before.
        """
        return self._program.open_workspace(folder, extra, role)

    def change(self, path: str, text: str | None, version: int | None = None) -> None:
        """Gives a file, or a header, its unsaved text; None: what is on the disk counts again."""
        self._program.texts.change(path, text, version)
        self._reopening.changed()
        self.contracts.changed(path, version, is_open=text is not None)
        self._last, self._proofs.wanted, self._is_kept = None, False, False

    def version(self, path: str) -> int | None:
        """The version that came with a file's unsaved text, None for the text on the disk."""
        return self._program.texts.version(path)

    @property
    def typing(self) -> bool:
        """Whether some file's unsaved text is not what is on the disk."""
        return self._program.texts.differ

    def refresh(self) -> None:
        """Looks again for headers, rules and contracts that were missing or changed on the disk."""
        self._load_rules()
        self._program.units.retry_failed()
        if self._part is not None:
            self._part.refresh()

    def forget(self) -> None:
        """Drops everything computed before: the next check starts from nothing."""
        self._program.forget()
        self._check.forget()
        self._check = ProgramCheck(self._algorithm, self._jobs, self._restriction)
        self._reopening.forget()
        self._proofs.forget()
        self.contracts.forget()
        self._last, self._is_kept, self._part = None, False, None
        self._load_rules()

    def _load_rules(self) -> None:
        self._program.load_rules()
        self._reporting.forget_comments()

    def inspect(self) -> Inspection:
        """The program's syntax trees and its CFAs with their places, without checking anything."""
        inspection = self._program.inspect()
        self.failed = inspection.failed
        return inspection

    @property
    def built(self) -> tuple[Built, ...]:
        """The units with their texts as the compiler is given them, as they were read last."""
        return tuple(unit.built for unit in self._program.units.known())

    # -- checks ---------------------------------------------------------------------------------------------------------------

    @property
    def scratch(self) -> str | None:
        """Why the last check began from nothing; None if it went on from the one before, or gave what was kept."""
        return self._check.scratch

    def check(self, *, progress: Progress | None = None) -> Report:
        """Checks the program as it is now."""
        report = self.check_unless(lambda: False, progress=progress)
        assert report is not None  # nobody asked to stop
        return report

    def check_unless(
        self,
        stop: Stop,
        *,
        progress: Progress | None = None,
        patient: bool = True,
        before_reading: Callable[[], None] | None = None,
    ) -> Report | None:
        """Checks the program as it is now. None if `stop` became true on the way or it was interrupted; what was built stays.

        `patient=False` may return a preliminary report. Where an edit has far-reaching effects, that report has the old
        answers for functions that were not edited, and is not `settled`. Another check gives the new ones.

        `before_reading` is called before many files are read of which nothing is known, and before every check of so many until
        one was complete."""
        start, question = time.perf_counter(), self._program.question
        known = self._reopening.report(question, self._program.units, self._check)
        self._last, self._is_kept = None, known is not None
        if known is not None:
            self.failed, self.settled = False, True
            is_open = self._claims and not self.options.everywhere
            self._proofs.checked(wanted=self._proves and (is_open or not self._reopening.decided))
            checks_again = self._proofs.wanted and budget_of(self.options.budget, self.options.limits).total is None
            self.report = self._proofs.reopened(known) if checks_again else known
            return self.report
        if before_reading is not None and self._is_long:
            before_reading()
        units = self._program.revise(progress, stop)
        if units is None:
            return None
        if progress is not None:
            progress("Checking", 0, 0)
        try:
            checked = self._check.run(units, self.rules, self.options, self.interruption, patient, self._program.contracts, stop)
        except Interrupted:
            return None
        self.report = self._answered(question, units, checked, start)
        return self.report

    @property
    def _is_long(self) -> bool:
        """Whether a check of the program is its first one, or has all of it to read, and there is much to read."""
        return len(self.files) > _FEW and (self.report is None or not self._program.units.any_of(self.files))

    def alone(self, path: str, stop: Stop) -> tuple[Checker, Report] | None:
        """What one file of the program shows by itself, with the checker that found it; no prover is asked. None if `stop` became
        true or it was interrupted. Until the program is known, the checker is kept for the next text of the file: keys that come
        while the program is read, or after somebody has cancelled that, are answered at once."""
        checker = self._part
        if checker is None or checker.files != (path,):
            checker = Checker(msgspec.structs.replace(self.options, engine="automaton", proofs=False))
            checker.interruption, self._part = self.interruption, checker
        checker._program.open_part(self._program, path)
        if checker._program.revise(None, stop) is None or stop():
            return None  # the engine, which is told of what comes while it is at work, is not told of what came before
        report = checker.check_unless(stop)
        return None if report is None else (checker, report)

    def handed_over(self) -> Report | None:
        """What another machine has found in the program as it is now, none of it believed; None if nothing was handed over."""
        return self._reopening.handed_over(self._program.question)

    def _answered(self, question: Question, units: Sequence[UnitView], checked: Checked, start: float) -> Report:
        undecided = self._proves and (bool(checked.findings) or self._proofs.asked)
        self._proofs.checked(wanted=(undecided or self._claims) and checked.settled, understood=_parses(units))
        report, failed = self._reporting.report(units, checked, self._check, self._proofs, start)
        self.failed, self.settled, self._part = failed or nothing_parsed(units), checked.settled, None
        self._last = _Last(question, units, checked, report.times.total)
        self._is_rechecking = False
        self._know_contracts(units, checked.rechecked)
        if not self.failed and self.settled:
            self._reopening.answered(question, units, report, decided=not undecided and not self._claims)
        return report

    def _know_contracts(self, units: Sequence[UnitView], rechecked: Sequence[Rechecked] = ()) -> None:
        if self._check.linked is not None:
            self.contracts.checked(self._check.linked, units, rechecked, self._program.texts.version)

    def explore(self) -> tuple[Inspection, Analysis]:
        """The program as `inspect` gives it, and its derivation graph after Full; which of its errors have a path is not asked.
        `failed` as after a check."""
        inspection = self.inspect()
        rule_messages = self._program.rule_messages
        entries, messages = choose_entries(inspection.program, self.options.entries, inspection.system)
        self.failed = self.failed or bool(messages) or any(message.severity == "error" for message in rule_messages)
        analysis = Analysis(inspection.program, self.rules, self.options.limits)
        analysis.run(entries)
        said = (*inspection.messages, *rule_messages, *messages, *analysis.messages())
        return inspection._replace(messages=said), analysis

    def derivations(self, path: str, function: str, line: int | None = None) -> FunctionDerivations | None:
        """What the last check derived in a function, named as in the text, of a file of the program, or what of it leads to a
        `line`, counted from 1; None if nothing."""
        self.wake()
        return self._check.derivations(path, function, line)

    def unfinished(self, reason: str) -> Report:
        """The report of a check that was ended from outside: nothing is decided, for this reason."""
        units = self._program.units.known()
        functions = tuple(only_unfinished(units, self.rules, reason))
        message = Message("warning", "", f"The check was ended early: {reason}.")
        checked = Checked(functions, (), (message,), Work(), 0.0)
        report, self.failed = self._reporting.report(units, checked, self._check, self._proofs, time.perf_counter())
        return msgspec.structs.replace(report, verdict="unknown")

    # -- provers --------------------------------------------------------------------------------------------------------------

    @property
    def _proves(self) -> bool:
        return self.options.engine != "automaton"

    @property
    def _claims(self) -> bool:
        """Whether functions are to be proved as well: all of them, or those in open files if there are any."""
        wants = self.options.proofs and budget_of(self.options.budget, self.options.limits).total != 0
        return self._proves and wants and (self.options.everywhere or bool(self._program.texts.overlay()))

    @property
    def unasked(self) -> bool:
        """Whether `ask` has something to do: the last report has findings that nobody was asked about."""
        return self._proofs.wanted or (self._last is not None and self._proofs.is_ready)

    @property
    def is_current(self) -> bool:
        """Whether the last report is of the texts as they are."""
        return self._last is not None or self._is_kept

    @property
    def suspected(self) -> frozenset[str] | None:
        """The fingerprints of the last report's findings that did not take a prover to be found; None if that is not known."""
        return None if self._last is None else frozenset(finding.fingerprint for finding in self._last.checked.findings)

    @property
    def proving(self) -> bool:
        """Whether provers are at work."""
        return self._proofs.open > 0

    @property
    def certificates(self) -> tuple[str, ...]:
        """The texts of the certificates of what is proved now, if the options ask for them."""
        return self._proofs.certificates

    def prove(self, *, progress: Progress | None = None, stays: bool = False) -> Report:
        """Has provers decide the findings of the last report, and waits until each is decided or has used up its budget. If it
        `stays`, the prover processes wait for the next text, until `close`."""
        start = time.perf_counter()
        self._ask(lambda: False, progress)
        while self.proving:
            if progress is not None:
                progress("Proving", *self._proofs.progress)
            self.wait(None)
            self._collect()
        return self._proved(start, stays=stays)

    def unproved(self, reason: str) -> Report:
        """The report of `prove` when that was ended from outside: what is not decided stays possible, for this reason."""
        start = time.perf_counter()
        self._proofs.give_up(reason)
        self._ask_about_last()
        return self._proved(start)

    @property
    def doubted(self) -> bool:
        """Whether `recheck` has something to do: the last edit has put proofs in question."""
        return self._last is not None and self._claims and not self._is_rechecking and self._proofs.is_doubted

    def recheck(self) -> Report | None:
        """Has provers look whether the proofs that the last edit has put in question still hold, before anything else is asked.

        Returns the report with what is known of them already. None if that is nothing, or it was interrupted."""
        last = self._last
        if last is None:
            return None
        try:
            self._claim(last, last.checked)
            self._is_rechecking = True
            return self._with_answers() if self._proofs.recheck(self.interruption) else None
        except Interrupted:
            return None

    def ask(self, stop: Stop) -> Report | None:
        """Has provers decide the findings of the last report, and then prove functions, one after the other.

        Returns the report with what is known of them already. None if `stop` became true on the way or it was interrupted, so
        that there is still something to ask; or if a text was changed since."""
        return self._with_answers() if self._ask(stop) else None

    def take_answers(self) -> Report | None:
        """The last report with what provers have said since; None if that is nothing, or a text was changed since: then the next
        check's report has it."""
        return self._with_answers() if self._collect() else None

    def wait(self, seconds: float | None) -> None:
        """Waits until there are answers to take, or no prover is at work, or the time is used up (None: it has no end)."""
        self._proofs.wait(seconds)

    def close(self) -> None:
        """Ends the provers; what they were about to decide stays undecided."""
        self._proofs.close()

    def _ask(self, stop: Stop, progress: Progress | None = None) -> bool:
        """Whether there is something new to report."""
        if not self._proofs.wanted:
            return self._last is not None and self._go_on()
        if self._last is None:  # the last answer came out of the store
            self.wake()
            if self.check_unless(stop, progress=progress) is None:
                return False
        return self._ask_about_last()

    def _go_on(self) -> bool:
        try:
            return self._proofs.go_on(self.interruption) and self._ask_about_last()
        except Interrupted:
            return False

    def _collect(self) -> bool:
        if not self._proofs.collect():
            return False
        if self._is_rechecking and self._proofs.wanted:  # nothing else is asked yet
            self._go_on_rechecking()
            return True
        return self._ask_about_last()

    def _go_on_rechecking(self) -> None:
        with contextlib.suppress(Interrupted):
            self._proofs.recheck(self.interruption)

    def _ask_about_last(self) -> bool:
        """Asks what is to be asked about the last check, also where an answer to an older question comes first. What is
        answered at once can decide findings, so that these are asked about again."""
        last, is_asked = self._last, self._proofs.wanted
        if last is None:
            return False
        start, interruptible, self._is_rechecking = time.perf_counter(), self.interruption, False

        def again() -> Checked:
            return self._check.again(last.units, self.rules, interruptible)

        before, is_news = last.checked, True
        try:
            while is_news:
                checked = self._proofs.ask(
                    before,
                    self._check,
                    last.question.asked,
                    self.options,
                    interruptible,
                    again,
                    self._program.texts.overlay().keys(),
                    self._shipped,
                    understood=last.understood,
                )
                if self._claims and (is_asked or checked is not before):  # what is refuted is to be proved
                    self._claim(last, checked)
                before, is_asked = checked, False
                is_news = self._proofs.go_on(interruptible)
        except Interrupted:
            self._proofs.wanted = True
            return False
        self._last = last._replace(checked=checked, ms=last.ms + (time.perf_counter() - start) * 1000)
        return True

    @property
    def _shipped(self) -> frozenset[str]:
        return frozenset(rule.name for rule in self.rules if rule.shipped)

    def _claim(self, last: _Last, checked: Checked) -> None:
        """Says what is to be proved."""
        visible = None if self.options.everywhere else self._program.texts.overlay().keys()
        self._proofs.claim(
            checked,
            self._check,
            last.question.asked,
            self.options,
            self.interruption,
            visible,
            shipped=self._shipped,
            understood=last.understood,
        )

    def _proved(self, start: float, *, stays: bool = False) -> Report:
        if not stays:
            self.close()
        self._with_answers((time.perf_counter() - start) * 1000)
        assert self.report is not None  # there was a check
        return self.report

    def _with_answers(self, waited: float = 0.0) -> Report | None:
        """The report of the last check with what is known from provers; None if a text was changed since. `waited` are the
        milliseconds that somebody waited for them."""
        last = self._last
        if last is None:
            return None
        start = time.perf_counter() - (last.ms + waited) / 1000
        self.report, _ = self._reporting.report(last.units, last.checked, self._check, self._proofs, start)
        if not self.failed and self._proofs.is_final and self._proofs.take_news():
            self._reopening.answered(last.question, last.units, self.report)
        return self.report

    # -- the store ------------------------------------------------------------------------------------------------------------

    @property
    def unsaved(self) -> bool:
        """Whether `save` has something to do."""
        return self._reopening.unsaved or self._proofs.unsaved

    @property
    def resting(self) -> bool:
        """Whether `wake` has something to do: the last answer came out of the store, or macros of open files are not known."""
        return self._reopening.resting or bool(self._program.units.unready)

    def save(self, stop: Stop = lambda: False) -> bool:
        """Keeps in the store what the last check found; False if there is nothing to keep, or `stop` or the interruption ended
        it, or
        the store cannot be written now. What is there stays whole in any case."""
        self._proofs.save()
        return self._reopening.save(self._check, self.interruption, stop)

    def keep_answers(self) -> None:
        """Keeps in the store what provers have decided, also where they were ended before they had said all, for as long as
        somebody who leaves waits."""
        self._proofs.save()
        if self._last is not None and self.report is not None and self.settled and not self.failed and not self.typing:
            until = time.monotonic() + _LEAVING
            self._reopening.answered(self._last.question, self._last.units, self.report, decided=False)
            self._reopening.save(self._check, self.interruption, lambda: time.monotonic() > until)

    def keep_decisions(self) -> None:
        """Keeps in the store what provers have decided, and nothing else."""
        self._proofs.save()

    def known_revision(self) -> KnownRevision | None:
        """What was found in a revision of the program that had the present texts, whenever that was; None if nothing is kept."""
        return self._reopening.revision(self._program.question)

    def keep_revision(self, examined: tuple[str, ...] | None = None) -> bool:
        """Keeps what the last check has found, for when its texts are the revision that others are compared with; `examined` are
        the files about whose functions provers were asked. Returns whether it is there."""
        return self._reopening.keep_revision(self._program.question, examined)

    @property
    def has_final_answers(self) -> bool:
        """Whether provers can say no more of the last report."""
        return self._proofs.is_final

    def wake(self) -> None:
        """Makes ready for an edit: has at hand what was left in the store, and the macros of open files."""
        self._reopening.wake(self._program.question, self._program.units, self._check)
        if self._is_kept:
            self._is_kept = False
            self._know_contracts(self._program.units.known())
        self.make_ready()

    def make_ready(self) -> None:
        """The part of `wake` that takes no longer than to preprocess the open files: nothing is brought in from the store."""
        if not self._reopening.resting:
            self._program.make_ready()
