"""A session that goes on from what an earlier process has kept, and keeps what it finds for later ones.

Three states, one after the other: nothing was looked for yet; *resting*: the snapshot in the store answers, and nothing else is
in memory; *live*: the program is in memory, from the store or built from nothing, and the store is only written.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from analysis.c.project_functions import ProjectFunctions
from analysis.model.digest import digest_text, digest_value
from analysis.model.interruption import Interrupted, Interruption
from analysis.model.options import Options
from analysis.model.report import Message, Report, Times
from analysis.rules.automaton import Rule
from analysis.session.checking import ProgramCheck
from analysis.session.files.program_files import ProgramFiles
from analysis.session.files.texts import Texts
from analysis.session.keeping.archive import Archive, Snapshot, snapshot_of
from analysis.session.keeping.handed_over import HandedOverError, report_of, unpacked
from analysis.session.keeping.known_revisions import KnownRevision, KnownRevisions, known_revision
from analysis.session.keeping.surroundings import compiler_digest, others_asked, tool_digest
from analysis.session.scores import scored
from analysis.session.units.program_units import Stop, Units
from analysis.session.units.unit_view import UnitView
from analysis.store.database import Store
from analysis.store.store_location import workspace_root


class Question(msgspec.Struct, frozen=True):
    """What a check is asked: the program, and all that is not in its files. `asked` is what the program was opened by;
    `contracts` are what the project says of functions that it calls."""

    asked: tuple[str, ...]
    program: ProgramFiles
    options: Options
    rules: tuple[Rule, ...]
    messages: tuple[Message, ...]
    contracts: ProjectFunctions = {}

    @property
    def group(self) -> str:
        """The name of the group under which the answer is kept."""
        return self._group_of(self.asked)

    @property
    def other_group(self) -> str | None:
        """The name of the group to go on from where nothing is kept under the first one."""
        others = others_asked(self.asked)
        return None if others is None else self._group_of(others)

    @property
    def revisions_group(self) -> str:
        """The name of the group of what was found in revisions of the program, in whatever role."""
        return self._group_of(("revisions", *(others_asked(self.asked) or self.asked)))

    def _group_of(self, names: tuple[str, ...]) -> str:
        shown_or_not = msgspec.structs.replace(self.options, show="all")  # one answer serves both
        asked = digest_value(shown_or_not), digest_value(self.rules), digest_value(dict(self.contracts))
        parts = (tool_digest(), compiler_digest(self.options), *asked)
        return digest_text(*parts, *names)


class _Answered(msgspec.Struct, frozen=True):
    """A check that was made, and can be kept. `decided`: provers can say no more of it."""

    question: Question
    units: tuple[UnitView, ...]
    report: Report
    decided: bool


class _Resting(NamedTuple):
    """A snapshot that answers for the group `wanted`, and the group that it was read from."""

    wanted: str
    group: str
    snapshot: Snapshot


class Reopening:
    """The store's part of one session. Without a store it does nothing."""

    def __init__(self, store: Store | None, texts: Texts) -> None:
        self._archive = None if store is None else Archive(store)
        self._revisions = None if store is None else KnownRevisions(store)
        self._texts = texts
        self._live = store is None
        self._resting: _Resting | None = None
        self._used = False
        self._answered: _Answered | None = None

    @property
    def unsaved(self) -> bool:
        """Whether `save` has something to do."""
        return self._answered is not None or (self.resting and not self._used)

    @property
    def resting(self) -> bool:
        """Whether the last answer came out of the store, and nothing is in memory."""
        return not self._live and self._resting is not None

    def forget(self) -> None:
        """From now on everything is found out anew."""
        self._live, self._resting, self._answered = True, None, None
        if self._archive is not None:
            self._archive.forget()

    def changed(self) -> None:
        """Notes that a text changed, so that the last answer is out of date."""
        self._answered = None

    def report(self, question: Question, units: Units, check: ProgramCheck) -> Report | None:
        """The answer, if it is in the store. If only some of its units and graphs are, they are put into
        `units` and `check`. From then on the session is live."""
        if self._live or self._archive is None:
            return None
        start = time.perf_counter()
        group = question.group
        if self._resting is None or self._resting.wanted != group:
            self._resting = _kept(self._archive, group, question.other_group)
        if self._resting is not None:
            snapshot = self._resting.snapshot
            self._texts.begin()
            if snapshot.holds(question.program.files, question.program.flags, question.messages, self._texts):
                findings = scored(snapshot.report.findings, question.options.show)
                times = Times(total=(time.perf_counter() - start) * 1000)
                return msgspec.structs.replace(snapshot.report, findings=findings, times=times)
        self.wake(question, units, check)
        return None

    def handed_over(self, question: Question) -> Report | None:
        """What another machine has found in the program as it is now; nothing of it is believed. None if there is nothing."""
        if self._archive is None or question.asked[:1] != ("folder",):
            return None
        root = workspace_root(question.asked[1])
        file = self._archive.handed_over(root)
        try:
            found = None if file is None else report_of(unpacked(file), root, question.program.files, self._texts.digest)
        except HandedOverError:
            return None
        return None if found is None else msgspec.structs.replace(found, findings=scored(found.findings, question.options.show))

    def wake(self, question: Question, units: Units, check: ProgramCheck) -> None:
        """Brings what the store has into memory. Not to be ended early: whatever text comes next goes on from here."""
        if not self._live and self._archive is not None and self._resting is not None:
            _, group, snapshot = self._resting
            found = self._archive.units(group, snapshot, self._texts)
            units.adopt(found)
            if len(found) == len(snapshot.units):
                graph = self._archive.graph(group, snapshot)
                if graph is not None:
                    check.resume(units.known(), question.rules, question.options, graph, question.contracts)
        self._live, self._resting = True, None

    @property
    def decided(self) -> bool:
        """Whether the answer that came out of the store is final: provers could add nothing to it."""
        return self._resting is not None and self._resting.snapshot.decided

    def answered(self, question: Question, units: Sequence[UnitView], report: Report, decided: bool = True) -> None:
        """Notes that a check was made. `decided`: provers can add nothing to it."""
        if self._archive is not None and self._archive.usable:
            self._answered = _Answered(question, tuple(units), report, decided)

    def save(self, check: ProgramCheck, interruption: Interruption, stop: Stop) -> bool:
        """Keeps the last answer; False if there is none that can be kept, or `stop` or the interruption ended it."""
        if self._archive is None:
            return False
        if self.resting and self._resting is not None:
            self._archive.touch(self._resting.group)
            self._used = True
            return True
        answered = self._answered
        if answered is None:
            return False
        try:
            done = self._write(self._archive, answered, check, interruption, stop)
        except Interrupted:
            return False
        if done or not stop():
            self._answered = None  # what could not be kept now is not tried again and again
        return done

    def revision(self, question: Question) -> KnownRevision | None:
        """What was found in the texts as they are now, whenever that was; None if nothing is kept of them."""
        if self._revisions is None:
            return None
        self._texts.begin()
        program = question.program
        kept = self._revisions.get(question.revisions_group)
        return next((one for one in kept if one.holds(program.files, program.flags, question.messages, self._texts)), None)

    def keep_revision(self, question: Question, examined: tuple[str, ...] | None) -> bool:
        """Keeps what the last check has found, for when its texts are a revision that others are compared with. `examined` as in
        `KnownRevision`. Returns whether it is there."""
        if self._archive is None or self._revisions is None:
            return False
        snapshot = self._last_snapshot(self._archive, question)
        if snapshot is None:
            return False
        label = f"findings of revisions: {_label(question)}"
        return self._revisions.keep(question.revisions_group, label, known_revision(snapshot, examined))

    def _last_snapshot(self, archive: Archive, question: Question) -> Snapshot | None:
        """That of the last check, which may be in memory, or in the store."""
        if self.resting and self._resting is not None:
            return self._resting.snapshot
        program, answered = question.program, self._answered
        if answered is not None:
            return snapshot_of(answered.report, question.messages, answered.units, program.flags, self._texts)
        snapshot = archive.snapshot(question.group)
        self._texts.begin()
        holds = snapshot is not None and snapshot.holds(program.files, program.flags, question.messages, self._texts)
        return snapshot if holds else None

    def _write(self, archive: Archive, answered: _Answered, check: ProgramCheck, interruption: Interruption, stop: Stop) -> bool:
        question = answered.question
        snapshot = snapshot_of(answered.report, question.messages, answered.units, question.program.flags, self._texts)
        if snapshot is None:
            return False
        snapshot = msgspec.structs.replace(snapshot, decided=answered.decided)
        with interruption:
            graph = check.packed()
        return archive.write(question.group, _label(question), snapshot, answered.units, graph, interruption, stop)


def _kept(archive: Archive, group: str, other: str | None) -> _Resting | None:
    for one in (group, other):
        snapshot = None if one is None else archive.snapshot(one)
        if one is not None and snapshot is not None:
            return _Resting(group, one, snapshot)
    return None


def _label(question: Question) -> str:
    return " ".join(question.asked[1:])
