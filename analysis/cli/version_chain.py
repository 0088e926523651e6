"""Versions of a program, checked one after the other by one checker: what a version leaves unchanged is not done again."""

from __future__ import annotations

import msgspec

from analysis.api import Checker
from analysis.cfa.revisions.delta import Revision
from analysis.cli.check import keep, run
from analysis.cli.command_options import Asked, is_alike
from analysis.cli.versions import Version, edits, renamed
from analysis.engines.automaton import Algorithm
from analysis.model.report import Finding, Report
from analysis.rules.automaton import Rule

_ENDED = "the time was used up in the version before"


class Checked(msgspec.Struct, frozen=True):
    """A version and what came of it.

    `apart`: why it was checked from nothing; None if it was checked from what is known of the version before.
    `ended`: the time was used up. `introduced` and `fixed` are compared with the last version that was
    checked to the end, by fingerprint. `differences` between this report and one from scratch are None when
    none was made.
    """

    version: Version
    report: Report
    failed: bool
    ended: bool
    apart: str | None
    introduced: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    differences: tuple[str, ...] | None = None


class VersionChain:
    """Versions checked by one checker, at the paths of the first of them: `past[0]`. Begins anew where it has to. `as_typed`: a
    function that does not parse is what it was in the version before, as in an editor."""

    def __init__(self, asked: Asked, algorithm: Algorithm, *, as_typed: bool = True) -> None:
        self._asked = asked
        self._as_typed = as_typed
        self._algorithm: Algorithm = algorithm
        self._checker = self._new_checker()
        self._given: dict[str, str] = {}
        self.past: list[Version] = []
        self._is_lost = False
        self._is_other = False

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that are checked."""
        return self._checker.rules

    def use(self, asked: Asked) -> None:
        """The next version is checked as this says."""
        if not is_alike(self._asked, asked):
            self._asked, self._is_other = asked, True

    @property
    def is_c(self) -> bool:
        """Whether all of the last version parses."""
        return all(one.is_c for one in self._checker.built)

    def read(self, version: Version) -> Revision | None:
        """The program of the next version, which is not checked; None if not all of it could be read."""
        self._read(version)
        return self.revision()

    def _read(self, version: Version) -> str | None:
        """Goes on to the next version; why it begins from nothing, None if it does not."""
        texts = edits(self.past[0], version) if self.past else "it is the first"
        if self._is_other:
            texts, self._is_other = "its settings or rules are not those of the version before", False
        why = texts if isinstance(texts, str) else self._edited(texts)
        if why is not None:
            self.close()
            self._checker, self._given, self.past = self._new_checker(), {}, []
            self._checker.open((version.name,))
        self.past.append(version)
        return why

    def _edited(self, texts: dict[str, str]) -> str | None:
        """Gives the texts of a version to the checker, as edits; why that does not do, None if it does."""
        for path in self._given.keys() - texts.keys():
            self._checker.change(path, None)
        for path, text in texts.items():
            self._checker.change(path, text)
        self._given = texts
        if self._as_typed:
            return None
        self._checker.inspect()
        return None if self.is_c else "it has text that does not parse"

    def check(self, version: Version) -> Checked:
        """The report on the next version, with its own paths."""
        why = self._read(version)
        report = run(self._checker, self._asked, stays=True)
        ended = self._checker.report is not report
        failed = self._checker.failed
        if why is not None and not ended:
            keep(self._checker, self._asked)
        apart = why or (_ENDED if self._is_lost else self._checker.scratch)
        self._is_lost = ended
        if ended:
            self._checker.forget()
        return Checked(version, renamed(report, self.past[0], version), failed, ended, apart)

    def revision(self) -> Revision | None:
        """The program of the last version, None if not all of it could be read."""
        view = self._checker.inspect()
        return Revision(view.program, view.places, view.unparsed, view.system) if not self._checker.failed else None

    def close(self) -> None:
        """Ends the provers."""
        self._checker.close()

    def _new_checker(self) -> Checker:
        store = None if self._algorithm == "full" else self._asked.store
        asked = self._asked
        return Checker(asked.options, jobs=asked.jobs, algorithm=self._algorithm, store=store, expects_edits=True)
