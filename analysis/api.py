"""The facade of the analysis: a `Checker` holds one program, takes edits, and answers with reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from analysis.engines.automaton import Algorithm, Analysis
from analysis.model.derivation import FunctionDerivations
from analysis.model.options import Options
from analysis.model.report import Report
from analysis.rules.automaton import Rule
from analysis.session.interruption import Interruption
from analysis.session.session import Inspection, Session
from analysis.store.database import Store

Progress = Callable[[str, int, int], None]
Stop = Callable[[], bool]


class Checker:
    """Checks one program again and again as it changes. Not for several threads at once.

    `algorithm` is how a check goes on from the one before: ORION's IncrBack, IncrFwd, or from scratch. The first check goes on
    from what is in the `store`; `save` writes to it.

    A check says which findings are possible. Provers, which are processes of their own, decide them: `prove` waits for them,
    `ask` and `hear` do not; `told` is called from another thread when there is something to hear.

    `progress` functions are called with a few words, the work done and the work there is (0: not known).
    """

    def __init__(
        self,
        options: Options,
        *,
        jobs: int = 1,
        algorithm: Algorithm = "incr-back",
        store: Store | None = None,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        self._session = Session(options, jobs, algorithm, store, told)
        self._report: Report | None = None

    @property
    def report(self) -> Report | None:
        """The last report."""
        return self._report

    @property
    def failed(self) -> bool:
        """Whether in the last check something that was asked for could not be done; its report's messages say what."""
        return self._session.failed

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that are checked."""
        return self._session.rules

    @property
    def options(self) -> Options:
        """The options of the checker."""
        return self._session.options

    @property
    def certificates(self) -> tuple[str, ...]:
        """The texts of the certificates of what is proved now, if the options ask for them."""
        return self._session.certificates

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the program, as they were named."""
        return self._session.files

    def open(self, paths: Sequence[str]) -> None:
        """Says which files and folders make the program; none: what the current folder suggests.

        What they lack is in the next report.
        """
        self._session.open(paths)

    def open_workspace(self, folder: str, extra: Sequence[str] = ()) -> bool:
        """Makes the program that of a folder of a workspace, or of one file; `extra` files in it need not be on the disk yet.

        Paths are absolute, in the reports as well. True if the files, or their flags, are others than before.
        """
        return self._session.open_workspace(folder, extra)

    def change(self, path: str, text: str | None, version: int | None = None) -> None:
        """Gives a file, or a header, its unsaved text; None: what is on the disk counts again."""
        self._session.change(path, text, version)

    def version(self, path: str) -> int | None:
        """The version that came with a file's unsaved text, None for the text on the disk."""
        return self._session.texts.version(path)

    def refresh(self) -> None:
        """Looks again for headers and rules that were missing or changed on the disk."""
        self._session.refresh()

    def forget(self) -> None:
        """Drops everything computed before: the next check starts from nothing."""
        self._session.forget()

    @property
    def interruption(self) -> Interruption:
        """With this, a signal handler may end `check_unless`, where that cannot ask `stop`."""
        return self._session.interruption

    def check(self, *, progress: Progress | None = None) -> Report:
        """Checks the program as it is now."""
        report = self.check_unless(lambda: False, progress=progress)
        assert report is not None  # nobody asked to stop
        return report

    @property
    def scratch(self) -> str | None:
        """Why the last check began from nothing; None if it went on from the one before."""
        return self._session.scratch

    @property
    def settled(self) -> bool:
        """Whether the last report was final (see `check_unless`)."""
        return self._session.settled

    def check_unless(self, stop: Stop, *, progress: Progress | None = None, patient: bool = True) -> Report | None:
        """Checks the program as it is now, unless `stop` becomes true on the way or it is interrupted: then None.

        Who is not `patient` gets a report soon. Where an edit has far-reaching effects, it says of functions other than those
        edited what was known of them before, and is not `settled`: then another check says the rest."""
        report = self._session.check(progress, stop, patient)
        if report is not None:
            self._report = report
        return report

    def prove(self, *, progress: Progress | None = None) -> Report:
        """Has provers decide the findings of the last report, and waits until each is decided or has used up its budget."""
        session, start = self._session, time.perf_counter()
        session.ask_provers(progress)
        while session.proving:
            if progress is not None:
                progress("Proving", *session.proved_so_far)
            session.wait_for_provers(None)
            session.hear_provers()
        return self._proved(start)

    def unproved(self, reason: str) -> Report:
        """The report of `prove` when that was ended from outside: what is not decided stays possible, for this reason."""
        start = time.perf_counter()
        self._session.give_up_proving(reason)
        return self._proved(start)

    def _proved(self, start: float) -> Report:
        self._session.close()
        report = self._kept(self._session.proved((time.perf_counter() - start) * 1000)) or self._report
        assert report is not None  # there was a check
        return report

    @property
    def unasked(self) -> bool:
        """Whether `ask` has something to do: the last report has findings that nobody was asked about."""
        return self._session.unasked

    @property
    def proving(self) -> bool:
        """Whether provers are at work."""
        return self._session.proving > 0

    def ask(self, stop: Stop) -> Report | None:
        """Has provers decide the findings of the last report. The report with what is known of them already; None if `stop`
        became true on the way or it was interrupted (then there is still something to ask), or a text was changed since."""
        return self._kept(self._session.proved() if self._session.ask_provers(stop=stop) else None)

    def hear(self) -> Report | None:
        """The last report with what provers have said since; None if that is nothing, or a text was changed since: then the next
        check's report has it."""
        return self._kept(self._session.proved() if self._session.hear_provers() else None)

    def _kept(self, report: Report | None) -> Report | None:
        if report is not None:
            self._report = report
        return report

    def close(self) -> None:
        """Ends the provers; what they were about to decide stays undecided."""
        self._session.close()

    @property
    def unsaved(self) -> bool:
        """Whether `save` has something to do."""
        return self._session.unsaved

    @property
    def typing(self) -> bool:
        """Whether some file's unsaved text is not what is on the disk."""
        return self._session.typing

    @property
    def resting(self) -> bool:
        """Whether `wake` has something to do."""
        return self._session.resting

    def save(self, stop: Stop = lambda: False) -> bool:
        """Keeps in the store what the last check found; whether it is there now. Takes a while, and is ended by `stop` or the
        interruption without harm."""
        return self._session.save(stop)

    def wake(self) -> None:
        """Makes ready for an edit: has at hand what was left in the store, and the macros of open files."""
        self._session.wake()

    def make_ready(self) -> None:
        """The part of `wake` that takes no longer than to preprocess the open files: nothing is brought in from the store."""
        self._session.make_ready()

    def inspect(self) -> Inspection:
        """The program's syntax trees and its CFAs with their places, without checking anything."""
        return self._session.inspect()

    def explore(self) -> tuple[Inspection, Analysis]:
        """The program as `inspect` gives it, and its derivation graph after Full. `failed` as after a check."""
        return self._session.explore()

    def derivations(self, path: str, function: str) -> FunctionDerivations | None:
        """What the last check derived in a function, named as in the text, of a file of the program; None if nothing."""
        return self._session.derivations(path, function)

    def unfinished(self, reason: str) -> Report:
        """The report of a check that was ended from outside: nothing is decided, for this reason."""
        return self._session.unfinished(reason)
