"""From what a check found, and what provers say of it, to the report."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from analysis.model.report import Count, FileReport, Message, Report, Silenced, Times
from analysis.session.checking import Checked, ProgramCheck, count_functions, is_unreadable
from analysis.session.files.suppressions import NONE, Suppressions, read_suppressions, split
from analysis.session.opened import OpenProgram
from analysis.session.provers.proofs import Proofs
from analysis.session.scores import scored
from analysis.session.unit_messages import unit_messages
from analysis.session.units.unit_view import UnitView
from analysis.session.withheld import may_be_reached, overall, settle


class _Read(NamedTuple):
    unit: UnitView
    report: FileReport
    messages: tuple[Message, ...]
    unreadable: bool


class Reporting:
    """Makes the reports of one program. What was said of a unit, or read in a text, is kept until that is another one."""

    def __init__(self, program: OpenProgram) -> None:
        self._program = program
        self._read: dict[str, _Read] = {}
        self._comments: dict[str, tuple[str | None, Suppressions]] = {}

    def forget_comments(self) -> None:
        """Comments name rules: they are read again when the rules are."""
        self._comments = {}

    def report(
        self, units: Sequence[UnitView], checked: Checked, check: ProgramCheck, proofs: Proofs, start: float
    ) -> tuple[Report, bool]:
        """The report, and whether something that the user asked for could not be done. `start`: when the check began, by
        `time.perf_counter`."""
        began, program = time.perf_counter(), self._program
        comments = self._suppressions(units, checked)
        decided, functions_decided = proofs.apply(checked.findings, checked.functions, check, program.options, program.rules)
        findings, silenced = split(scored(decided, program.options.show), comments)
        functions = settle(functions_decided, findings, [(f, f"its finding is suppressed: {why}") for f, why in silenced])
        read = self._read = {unit.path: self._read_again(unit) for unit in units}
        if any(one.report.parse_errors for one in read.values()):
            functions = tuple(map(may_be_reached, functions))
        files = tuple(one.report for one in read.values())
        asked = program.messages
        failed = any(one.unreadable for one in read.values()) or checked.failed or any(m.severity == "error" for m in asked)
        complete = not failed and all(file.parse_errors == 0 for file in files)
        messages = (
            *asked,
            *(message for one in read.values() for message in one.messages),
            *checked.messages,
            *(message for path in comments for message in comments[path].messages),
        )
        report = Report(
            verdict=overall(functions, findings, complete),
            files=files,
            functions=functions,
            findings=tuple(findings),
            messages=tuple(dict.fromkeys(messages)),
            work=proofs.counted(msgspec.structs.replace(checked.work, functions=self._lowered(units))),
            times=proofs.timed(self._times(units, checked, start, began)),
            silenced=tuple(itertools.starmap(Silenced, silenced)),
            rechecked=checked.rechecked,
            refuted=proofs.refuted,
            refuted_under=proofs.refuted_under,
            refuted_findings=proofs.refuted_findings,
        )
        return report, failed

    def _suppressions(self, units: Sequence[UnitView], checked: Checked) -> dict[str, Suppressions]:
        texts, limit = self._program.texts, self._program.options.limits.source_bytes
        paths = dict.fromkeys([*(unit.path for unit in units), *(finding.place.path for finding in checked.findings)])
        before, self._comments = self._comments, {}
        for path in paths:
            digest, known = texts.digest(path), before.get(path)
            if known is None or digest is None or known[0] != digest:
                data = texts.read(path, limit)
                known = digest, NONE if data is None else read_suppressions(path, data, self._program.rule_names)
            self._comments[path] = known
        return {path: comments for path, (_, comments) in self._comments.items() if comments is not NONE}

    def _read_again(self, unit: UnitView) -> _Read:
        """What there is to say of reading a unit; the same as before for the same unit."""
        known = self._read.get(unit.path)
        if known is None or known.unit is not unit:
            report = FileReport(unit.path, count_functions(unit), unit.built.parse_errors)
            known = _Read(unit, report, unit_messages(unit), is_unreadable(unit))
        return known

    def _fresh(self, units: Sequence[UnitView]) -> list[UnitView]:
        return [unit for unit in units if unit.revision == self._program.units.revision]

    def _lowered(self, units: Sequence[UnitView]) -> Count:
        recomputed = sum(unit.built.lowered for unit in self._fresh(units))
        return Count(sum(len(unit.built.unit.functions) for unit in units) - recomputed, recomputed)

    def _times(self, units: Sequence[UnitView], checked: Checked, start: float, reporting: float) -> Times:
        now = time.perf_counter()
        fresh = [unit.built for unit in self._fresh(units)]
        return Times(
            preprocess=sum(built.preprocessed.ms for built in fresh),
            parse=sum(built.parse_ms for built in fresh),
            lower=sum(built.lower_ms for built in fresh),
            link=checked.link_ms,
            automaton=checked.ms,
            report=checked.report_ms + (now - reporting) * 1000,
            total=(now - start) * 1000,
        )
