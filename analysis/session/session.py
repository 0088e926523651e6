"""A session: the revisions of one program, from files to a report.

A revision builds only what changed: a unit is taken from the revision before when its file, its flags and every header it
includes hold what they held; of a unit that is built again, functions whose text did not change keep their CFA, the others
get the old ids of whatever corresponds. A function that does not parse now takes part with its last good CFA, marked stale.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from analysis.cfa.edge_places import ProgramPlaces
from analysis.cfa.graph import Places, Program
from analysis.cfa.linking.link import link
from analysis.engines.automaton import Algorithm, Analysis
from analysis.frontend.syntax.parser import SyntaxTree, parse
from analysis.model.budgets import budget_of
from analysis.model.derivation import FunctionDerivations
from analysis.model.options import Options
from analysis.model.report import Count, FileReport, Message, Report, Times, Work
from analysis.rules.automaton import Rule
from analysis.rules.load import load_rules
from analysis.session.checking import (
    Checked,
    ProgramCheck,
    count_functions,
    has_functions,
    only_unfinished,
    own_functions,
    unit_messages,
)
from analysis.session.entries import choose_entries
from analysis.session.files.program_files import ProgramFiles, find_program, find_workspace
from analysis.session.files.suppressions import NONE, Suppressions, read_suppressions, split
from analysis.session.files.texts import Texts
from analysis.session.interruption import Interrupted, Interruption
from analysis.session.keeping.reopening import Question, Reopening
from analysis.session.provers.proofs import Proofs
from analysis.session.units.program_units import Progress, Stop, Units, UnitView
from analysis.session.withheld import overall, settle
from analysis.store.database import Store


class Inspection(NamedTuple):
    """A program before it is checked: its files' syntax trees, and its CFAs with their places.

    `unparsed` are functions that do not parse, as they are named in the text; `system` the linkage names of those that a header
    of the system's defines.
    """

    trees: tuple[SyntaxTree, ...]
    program: Program
    messages: tuple[Message, ...]
    places: Places
    unparsed: frozenset[str]
    system: frozenset[str]


class _Read(NamedTuple):
    unit: UnitView
    report: FileReport
    messages: tuple[Message, ...]
    unreadable: bool


class _Last(NamedTuple):
    """The last check that was made: of what, and what it answered."""

    question: Question
    units: Sequence[UnitView]
    checked: Checked
    ms: float


class Session:
    """One program with its options. Not for several threads at once.

    `failed` says of the last check that something the user asked for could not be done: a file that cannot be read, a rule or
    an entry that does not exist, or nothing that could be parsed.
    """

    def __init__(
        self,
        options: Options,
        jobs: int = 1,
        algorithm: Algorithm = "incr-back",
        store: Store | None = None,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        self.options = options
        self._algorithm: Algorithm = algorithm
        self._jobs = jobs
        self.texts = Texts()
        self.rules: tuple[Rule, ...] = ()
        self.failed = False
        self.settled = True
        self._rule_messages: tuple[Message, ...] = ()
        self._rule_names: frozenset[str] = frozenset()
        self._program = ProgramFiles()
        self._asked: tuple[str, ...] = ()
        self.interruption = Interruption()
        self._check = ProgramCheck(self._algorithm, self._jobs)
        self._units = Units(options, self.texts, jobs)
        self._reopening = Reopening(store, self.texts)
        self._proofs = Proofs(store, jobs, told)
        self._last: _Last | None = None
        self._read: dict[str, _Read] = {}
        self._comments: dict[str, tuple[str | None, Suppressions]] = {}
        self._load_rules()

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the program, as the user spelled them."""
        return self._program.files

    def open(self, paths: Sequence[str]) -> None:
        """Sets what the program is made of; empty: what the current folder suggests (docs/guide.md, "What is a program")."""
        self._program = find_program(paths, self.options)
        self._asked = ("paths", os.getcwd(), *paths)

    def open_workspace(self, folder: str, extra: Sequence[str]) -> bool:
        """Sets the program to that of a folder of a workspace, with files in it that may not be on the disk yet; whether it is
        another than before."""
        before, self._program = self._program, find_workspace(folder, extra, self.options)
        self._asked = ("folder", os.path.abspath(folder))
        return self._program != before

    def change(self, path: str, text: str | None, version: int | None) -> None:
        """Sets the unsaved text of a file; None: what is on the disk counts again."""
        self.texts.change(path, text, version)
        self._reopening.changed()
        self._last, self._proofs.wanted = None, False

    def refresh(self) -> None:
        """Looks again for what may have changed on the disk beside the program's own files: rules, headers that were missing."""
        self._load_rules()
        self._units.retry_failed()

    def forget(self) -> None:
        """Drops everything that was computed: the next check starts from nothing."""
        self._units.forget()
        self._check.forget()
        self._check = ProgramCheck(self._algorithm, self._jobs)
        self._reopening.forget()
        self._proofs.forget()
        self._last = None
        self._load_rules()

    @property
    def scratch(self) -> str | None:
        """Why the last check began from nothing; None if it went on from what was known, or gave what was kept."""
        return self._check.scratch

    @property
    def unsaved(self) -> bool:
        """Whether `save` has something to do."""
        return self._reopening.unsaved or self._proofs.unsaved

    @property
    def typing(self) -> bool:
        """Whether some file's unsaved text is not what is on the disk."""
        return self.texts.differ

    @property
    def resting(self) -> bool:
        """Whether `wake` has something to do: the last answer came out of the store, or macros of open files are not known."""
        return self._reopening.resting or bool(self._units.unready)

    def save(self, stop: Stop) -> bool:
        """Keeps what the last check found in the store; False if there is nothing to keep, or `stop` or the interruption ended
        it, or the store cannot be written now. What is there stays whole in any case."""
        self._proofs.save()
        return self._reopening.save(self._check, self.interruption, stop)

    def wake(self) -> None:
        """Has at hand what the next edit needs, if so far only the answer was taken out of the store, or nobody typed."""
        self._reopening.wake(self._question(), self._units, self._check)
        self.make_ready()

    def make_ready(self) -> None:
        """Has the macros of open files at hand, if their units are in memory."""
        if not self._reopening.resting:
            self._units.make_ready(self._program.flags)

    def check(self, progress: Progress | None = None, stop: Stop | None = None, patient: bool = True) -> Report | None:
        """Checks the program as it is now. None when `stop` or the interruption ended it; what was built stays. Who is not
        `patient` may get a report that is not `settled`: then another check says the rest."""
        start = time.perf_counter()
        question = self._question()
        known = self._reopening.report(question, self._units, self._check)
        if known is not None:
            self.failed, self.settled, self._last = False, True, None
            is_open = self._claims and not self.options.everywhere
            self._proofs.checked(wanted=self._proves and (is_open or not self._reopening.decided))
            return known
        self._last = None
        units = self._units.revise(self.files, self._program.flags, progress, stop)
        if units is None:
            return None
        if progress is not None:
            progress("Checking", 0, 0)
        try:
            checked = self._check.run(units, self.rules, self.options, self.interruption, patient)
        except Interrupted:
            return None
        undecided = self._proves and (bool(checked.findings) or self._proofs.asked)
        self._proofs.checked(wanted=(undecided or self._claims) and checked.settled)
        report = self._report(units, checked, start)
        self.failed = self.failed or _nothing_parsed(units)
        self.settled = checked.settled
        self._last = _Last(question, units, checked, report.times.total)
        if not self.failed and self.settled:
            self._reopening.answered(question, units, report, decided=not undecided and not self._claims)
        return report

    @property
    def _proves(self) -> bool:
        return self.options.engine != "automaton"

    @property
    def _claims(self) -> bool:
        """Whether functions are to be proved as well: all of them, or those in open files if there are any."""
        wants = self.options.proofs and budget_of(self.options.budget, self.options.limits).total != 0
        return self._proves and wants and (self.options.everywhere or bool(self.texts.overlay()))

    @property
    def unasked(self) -> bool:
        """Whether `ask_provers` has something to do."""
        return self._proofs.wanted or (self._last is not None and self._proofs.is_ready)

    @property
    def proving(self) -> int:
        """How many tasks provers have left."""
        return self._proofs.open

    @property
    def proved_so_far(self) -> tuple[int, int]:
        """How many questions provers have answered, and how many there are."""
        return self._proofs.progress

    def ask_provers(self, progress: Progress | None = None, stop: Stop | None = None) -> bool:
        """Has provers decide the findings of the last check, which they do by themselves, and then prove functions, one after the
        other. False when `stop` or the interruption ended it, a text was changed since, or there is nothing to report."""
        if not self._proofs.wanted:
            return self._last is not None and self._go_on()
        if self._last is None:  # the last answer came out of the store
            self.wake()
            if self.check(progress, stop) is None:
                return False
        return self._ask()

    def _go_on(self) -> bool:
        try:
            return self._proofs.go_on(self.interruption)
        except Interrupted:
            return False

    @property
    def certificates(self) -> tuple[str, ...]:
        """The texts of the certificates of what is proved now."""
        return self._proofs.certificates

    def hear_provers(self) -> bool:
        """Takes in what provers have said. False when there is nothing new, and when a text was changed since the last check:
        then the next one has it."""
        return self._proofs.collect() and self._ask()

    def wait_for_provers(self, seconds: float | None) -> None:
        """Waits until `hear_provers` has something to do, or no prover is at work, or the time is used up."""
        self._proofs.wait(seconds)

    def give_up_proving(self, reason: str) -> None:
        """Ends the provers' work: what is not decided stays possible for this reason."""
        self._proofs.give_up(reason)
        self._ask()

    def close(self) -> None:
        """Ends the provers."""
        self._proofs.close()

    def _ask(self) -> bool:
        """Asks what is to be asked about the last check, also where an answer to an older
        question comes first."""
        last, is_asked = self._last, self._proofs.wanted
        if last is None:
            return False
        start = time.perf_counter()
        shipped = frozenset(rule.name for rule in self.rules if rule.shipped)
        understood = all(unit.built.parse_errors == 0 for unit in last.units)
        try:
            checked = self._proofs.ask(
                last.checked,
                self._check,
                last.question.asked,
                self.options,
                self.interruption,
                lambda: self._check.again(last.units, self.rules, self.interruption),
                self.texts.overlay().keys(),
                shipped,
                understood=understood,
            )
            if self._claims and (is_asked or checked is not last.checked):  # what is refuted is to be proved
                visible = None if self.options.everywhere else self.texts.overlay().keys()
                self._proofs.claim(
                    checked, self._check, self.options, self.interruption, visible, shipped=shipped, understood=understood
                )
            self._proofs.go_on(self.interruption)
        except Interrupted:
            self._proofs.wanted = True
            return False
        self._last = last._replace(checked=checked, ms=last.ms + (time.perf_counter() - start) * 1000)
        return True

    def proved(self, waited: float = 0.0) -> Report | None:
        """The report of the last check with what is known from provers; None if a text was changed since. `waited` are the
        milliseconds that somebody waited for them."""
        last = self._last
        if last is None:
            return None
        failed = self.failed
        report = self._report(last.units, last.checked, time.perf_counter() - (last.ms + waited) / 1000)
        self.failed = failed
        if not failed and self._proofs.is_final and self._proofs.take_news():
            self._reopening.answered(last.question, last.units, report)
        return report

    def inspect(self) -> Inspection:
        """The program as the front end sees it, without checking anything."""
        units = self._units.revise(self.files, self._program.flags, None, None) or []
        self.failed = not units or any(_is_unreadable(unit) for unit in units)
        linked = link([unit.kept.unit for unit in units])
        trees = tuple(parse(unit.built.preprocessed.text) for unit in units)
        messages = (*self._program.messages, *(m for unit in units for m in unit_messages(unit)), *linked.messages)
        places = ProgramPlaces(linked.sources, {unit.path: unit.places for unit in units})
        unparsed = frozenset(broken.name for unit in units for broken in unit.kept.unit.broken if broken.name is not None)
        system = frozenset(linked.program.functions).difference(*(own_functions(unit) for unit in units))
        return Inspection(trees, linked.program, messages, places, unparsed, system)

    def derivations(self, path: str, function: str) -> FunctionDerivations | None:
        """What the last check derived in a function of a file; None if nothing."""
        self.wake()
        return self._check.derivations(path, function)

    def explore(self) -> tuple[Inspection, Analysis]:
        """The program and its derivation graph after Full; which of its errors have a path is not asked."""
        inspection = self.inspect()
        entries, messages = choose_entries(inspection.program, self.options.entries)
        self.failed = self.failed or bool(messages) or any(message.severity == "error" for message in self._rule_messages)
        analysis = Analysis(inspection.program, self.rules, self.options.limits)
        analysis.run(entries)
        if not analysis.graph.complete:
            messages = (*messages, Message("warning", "", "The exploration was cut off at the limit of configurations."))
        return inspection._replace(messages=(*inspection.messages, *self._rule_messages, *messages)), analysis

    def unfinished(self, reason: str) -> Report:
        """The report of a check that was ended early: whatever is known of the program, and nothing decided."""
        units = self._units.known()
        functions = tuple(only_unfinished(units, self.rules, reason))
        message = Message("warning", "", f"The check was ended early: {reason}.")
        report = self._report(units, Checked(functions, (), (message,), Work(), 0.0), time.perf_counter())
        return msgspec.structs.replace(report, verdict="unknown")

    def _question(self) -> Question:
        messages = (*self._program.messages, *self._rule_messages)
        return Question(self._asked, self._program, self.options, self.rules, messages)

    def _load_rules(self) -> None:
        self._comments = {}  # they name rules
        self.rules, self._rule_messages = load_rules(self.options)
        everything, _ = load_rules(msgspec.structs.replace(self.options, rules=("all",)))
        self._rule_names = frozenset(rule.name for rule in everything)

    def _report(self, units: Sequence[UnitView], checked: Checked, start: float) -> Report:
        began = time.perf_counter()
        comments = self._suppressions(units, checked)
        told, functions_told = self._proofs.tell(checked.findings, checked.functions, self._check, self.options, self.rules)
        findings, silenced = split(told, comments)
        functions = settle(functions_told, findings, [(f, f"its finding is suppressed: {why}") for f, why in silenced])
        read = self._read = {unit.path: self._read_again(unit) for unit in units}
        files = tuple(one.report for one in read.values())
        asked = (*self._program.messages, *self._rule_messages)
        self.failed = any(one.unreadable for one in read.values()) or checked.failed or any(m.severity == "error" for m in asked)
        complete = not self.failed and all(file.parse_errors == 0 for file in files)
        messages = (
            *asked,
            *(message for one in read.values() for message in one.messages),
            *checked.messages,
            *(message for path in comments for message in comments[path].messages),
        )
        return Report(
            verdict=overall(functions, findings, complete),
            files=files,
            functions=functions,
            findings=tuple(findings),
            messages=tuple(dict.fromkeys(messages)),
            work=self._proofs.counted(msgspec.structs.replace(checked.work, functions=self._lowered(units))),
            times=self._proofs.timed(self._times(units, checked, start, began)),
            suppressed=len(silenced),
            rechecked=checked.rechecked,
            refuted=self._proofs.refuted,
            refuted_under=self._proofs.refuted_under,
        )

    def _suppressions(self, units: Sequence[UnitView], checked: Checked) -> dict[str, Suppressions]:
        paths = dict.fromkeys([*(unit.path for unit in units), *(finding.place.path for finding in checked.findings)])
        before, self._comments = self._comments, {}
        for path in paths:
            digest, known = self.texts.digest(path), before.get(path)
            if known is None or digest is None or known[0] != digest:
                data = self.texts.read(path, self.options.limits.source_bytes)
                known = digest, NONE if data is None else read_suppressions(path, data, self._rule_names)
            self._comments[path] = known
        return {path: comments for path, (_, comments) in self._comments.items() if comments is not NONE}

    def _read_again(self, unit: UnitView) -> _Read:
        """What there is to say of reading a unit; the same as before for the same unit."""
        known = self._read.get(unit.path)
        if known is None or known.unit is not unit:
            known = _Read(unit, _file_report(unit), unit_messages(unit), _is_unreadable(unit))
        return known

    def _lowered(self, units: Sequence[UnitView]) -> Count:
        fresh = [unit for unit in units if unit.revision == self._units.revision]
        recomputed = sum(unit.built.lowered for unit in fresh)
        return Count(sum(len(unit.built.unit.functions) for unit in units) - recomputed, recomputed)

    def _times(self, units: Sequence[UnitView], checked: Checked, start: float, reporting: float) -> Times:
        now = time.perf_counter()
        fresh = [unit.built for unit in units if unit.revision == self._units.revision]
        return Times(
            preprocess=sum(built.preprocessed.ms for built in fresh),
            parse=sum(built.parse_ms for built in fresh),
            lower=sum(built.lower_ms for built in fresh),
            link=checked.link_ms,
            automaton=checked.ms,
            report=checked.report_ms + (now - reporting) * 1000,
            total=(now - start) * 1000,
        )


def _file_report(unit: UnitView) -> FileReport:
    return FileReport(unit.path, count_functions(unit), unit.built.parse_errors)


def _is_unreadable(unit: UnitView) -> bool:
    """Whether the front end could get nothing out of the file, and said why."""
    preprocessed = unit.built.preprocessed
    return not preprocessed.text.strip() and any(message.severity == "error" for message in preprocessed.messages)


def _nothing_parsed(units: Sequence[UnitView]) -> bool:
    """Whether there was text in the files, but none of it made sense. An empty file is no failure."""
    return not units or (any(unit.built.parse_errors for unit in units) and not any(map(has_functions, units)))
