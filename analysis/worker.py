"""The checker process: `python -m analysis.worker` (messages in `analysis.wire`).

A thread reads requests, so that a newer edit is seen while a check runs: the check is then given up between two files, or in
the engine by a signal; what it has built stays, and it is done again on the newer text. Every request that has arrived is
applied before the next check starts, and of several checks asked for only one is done: the last.

Findings are told as possible first. Provers decide them, in processes of their own, while this one waits for requests: they are
asked when no request waits, and what they say updates the results of files (`hear`), unless a text was changed since the check.

When no request waits there is time for what nobody waits for (`rest`): what was found is kept in the store, at once where all
texts are as on the disk and else when nothing was typed for a while; and what an edit will need is brought into memory, after a
start that found everything in the store, and asked of the compiler. A request ends the packing of what is to be kept, not what
an edit needs as well. Which files the programs have is also looked at again then, and not at every key.

Standard output carries nothing but frames: whatever else prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from types import FrameType
from typing import BinaryIO

import msgspec

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Finding, FunctionReport, Message, Rechecked, Report, Times, Work
from analysis.rules.load import shipped_rules
from analysis.store.database import Store
from analysis.store.location import open_store
from analysis.wire import (
    Check,
    CheckDone,
    ClearStore,
    Configure,
    Derive,
    Derived,
    Edit,
    Event,
    Failed,
    FileResult,
    Progress,
    Request,
    Shutdown,
    frame,
    read_request,
)

_log = logging.getLogger("everproof.worker")
_MANY_OBJECTS = 500_000
_QUIET = 4.0  # seconds without a request, after which what is being typed is kept
_PAUSE = 0.3  # seconds after a key for which the next one finds nothing at work


class _Inbox:
    """The requests that have arrived, None at the end: no more will come. And whether there is `news` from provers."""

    def __init__(self, stream: BinaryIO) -> None:
        self._requests: deque[Request | None] = deque()
        self._changed = threading.Condition()
        self._stream = stream
        self._main = threading.main_thread().ident or 0
        self.news = False
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def _read(self) -> None:
        try:
            while (request := read_request(self._stream)) is not None:
                self._put(request)
        except (msgspec.DecodeError, OSError) as error:
            _log.error("The request stream cannot be understood: %s", error)
        self._put(None)

    def _put(self, request: Request | None) -> None:
        """Hands the request over, and wakes the main thread, should it be deep in a check (Service.interrupt)."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        signal.pthread_kill(self._main, signal.SIGUSR1)

    def tell(self) -> None:
        """There is news from provers: wakes the main thread if it waits, and leaves it alone if it is at work."""
        with self._changed:
            self.news = True
            self._changed.notify_all()

    @property
    def waiting(self) -> bool:
        """Whether a request waits to be taken."""
        return bool(self._requests)

    def take(self, patience: float | None) -> list[Request | None]:
        """All requests that wait; if there is none, the first that comes within `patience` seconds (None: without end), unless
        there is news before."""
        with self._changed:
            self._changed.wait_for(lambda: self._requests or self.news, patience)
            taken = list(self._requests)
            self._requests.clear()
        return taken


class Service:
    """The state of the checker process: the programs of the workspace, and what the server has been told of them.

    Each folder is a program; a file that was opened outside every folder is one by itself.
    """

    def __init__(
        self, send: Callable[[Event], None], interrupted: Callable[[], bool], told: Callable[[], None] = lambda: None
    ) -> None:
        self.generation = 0
        self.pending: Check | None = None
        self._send = send
        self._interrupted = interrupted
        self._news = told
        self._answered: dict[str, Report] = {}  # the programs' last reports, as they were told, and of what generation
        self._answered_generation = 0
        self._options = Options()
        self._folders: tuple[str, ...] = ()
        self._edits: dict[str, Edit] = {}
        self._checkers: dict[str, Checker] = {}
        self._told: dict[str, FileResult] = {}
        self._turned: set[str] = set()  # opened or closed since they were told: the server may know nothing of them any more
        self._at_work: Checker | None = None
        self._chosen_store: str | None = None
        self._stores: dict[str, Store] = {}
        self._questions: list[Derive] = []
        self.looked = True  # for the files of the programs, since the last check
        self._typing = False
        self._pausing = False

    def accept(self, request: Request | None) -> None:
        """Takes in a request; a check is done later, by `work`."""
        if request is None:
            return
        self.generation = max(self.generation, request.generation)
        self._typing = self._typing and self._is_key(request)
        match request:
            case Configure(_, options, folders, store):
                self._options, self._folders = options, tuple(os.path.abspath(folder) for folder in folders)
                self._chosen_store = store
                self._drop_checkers()
            case Edit(_, path, version, text):
                self._answered = {}  # what was told is of texts before this one
                self._edit(os.path.abspath(path), request)
                for checker in self._checkers.values():
                    checker.change(path, text, version)
                    if text is None:
                        checker.refresh()
            case Check(_, focus, full):
                before = self.pending
                self.pending = Check(request.generation, focus, full or (before is not None and before.full))
            case ClearStore():
                for key in self._keys():
                    opened = self._store_of(key)
                    if opened is not None:
                        opened.clear()
                        opened.close()
                self._drop_checkers()
            case Derive():
                self._questions.append(request)
            case Shutdown():
                pass

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The signal handler for when something newer has arrived: ends the engine's work on what is outdated now."""
        if self._at_work is not None:
            self._at_work.interruption.handle(number, frame)

    def _is_key(self, request: Request) -> bool:
        """Whether a request changes nothing but the text of a file that was open before."""
        match request:
            case Edit(_, path, _, text):
                return text is not None and os.path.abspath(path) in self._edits
            case Check(_, _, full):
                return not full
        return False

    def _edit(self, path: str, edit: Edit) -> None:
        if edit.text is None or path not in self._edits:
            self._turned.add(path)
        if edit.text is None:
            self._edits.pop(path, None)
            gone = self._checkers.pop(path, None)  # a file outside every folder is of interest only while it is open
            if gone is not None:
                gone.close()
        else:
            self._edits[path] = edit

    def work(self) -> None:
        """Does the pending check, if there is one. If something newer arrives on the way it stays pending."""
        check = self.pending
        if check is None:
            return
        generation = self.generation
        if not self._typing:
            self._bring_programs_up_to_date()
        self._pausing = self._typing
        self._typing, self.looked = True, False
        if check.full:
            for checker in self._checkers.values():
                checker.forget()
            self.pending = check = Check(check.generation, check.focus)
        was_opened = bool(self._turned)
        reports = self._reports(generation, check.focus, patient=False)
        if reports is None:
            return
        self._tell(generation, check.focus, reports)
        rechecked = [function for _, report in reports for function in report.rechecked]
        after = 0.0
        if not all(checker.settled for checker, _ in reports):
            final = self._reports(generation, check.focus, patient=True)
            if final is None:
                return
            self._tell(generation, (), final)
            rechecked.extend(function for _, report in final for function in report.rechecked)
            after = sum((report.times.total for _, report in final), 0.0)
        if was_opened and not self._interrupted():
            for checker in self._checkers.values():
                checker.make_ready()  # all is shown: a file that was opened is not done before the first key finds what it needs
        self.pending = None
        self._answered = {key: checker.report for key, checker in self._checkers.items() if checker.report is not None}
        self._answered_generation = generation
        self._tell_done(generation, reports, tuple(rechecked), after)

    def hear(self) -> None:
        """Takes in what provers have said, and sends the results of the files that it changes. What is about texts that were
        changed since is told after the next check."""
        for key, checker in self._checkers.items():
            self._update(key, checker.hear())

    def _update(self, key: str, report: Report | None) -> None:
        """Sends what provers have made of a program's last report."""
        if report is not None and key in self._answered and self.pending is None:
            self._answered[key] = report
            reports = [(self._checkers[key], known) for key, known in self._answered.items() if key in self._checkers]
            self._tell(self._answered_generation, (), reports)

    def _ask_provers(self) -> None:
        for key, checker in list(self._checkers.items()):
            if checker.unasked and not self._interrupted():
                self._at_work = checker
                self._update(key, checker.ask(self._interrupted))
                self._at_work = None

    def _drop_checkers(self) -> None:
        self.close()
        self._checkers.clear()
        self._answered = {}

    def close(self) -> None:
        """Ends all provers."""
        for checker in self._checkers.values():
            checker.close()

    def answer(self) -> None:
        """Answers what was asked about the last check, once none is pending."""
        if self.pending is not None:
            return
        questions, self._questions = self._questions, []
        for question in questions:
            path = os.path.abspath(question.path)
            checker = self._checkers.get(self._folder_of(path) or path)
            derived = None if checker is None else checker.derivations(path, question.function)
            self._send(Derived(question.generation, derived))

    def _reports(self, generation: int, focus: Iterable[str], *, patient: bool) -> list[tuple[Checker, Report]] | None:
        """What is known of each program, those in focus first; None if something newer came."""
        reports: list[tuple[Checker, Report]] = []
        for key in self._in_order(focus):
            self._at_work = checker = self._checkers[key]
            report = checker.check_unless(self._interrupted, progress=self._progress(generation), patient=patient)
            self._at_work = None
            if report is None:
                return None
            reports.append((checker, report))
        return reports

    @property
    def patience(self) -> float | None:
        """How many seconds to wait for a request before `look` or `rest`; None when there is nothing to do then."""
        if self.pending is not None:
            return 0
        if not self.looked:
            return _PAUSE if self._pausing else 0
        waiting = [checker for checker in self._checkers.values() if checker.unsaved]
        if any(not checker.typing for checker in waiting) or self._to_wake() or self._to_ask():
            return 0
        return _QUIET if waiting else None

    def rest(self) -> None:
        """Does what nobody waits for, while nothing else is asked."""
        _collect()
        self.prepare()
        self._ask_provers()
        quiet = self.patience != 0
        for checker in self._checkers.values():
            if checker.unsaved and (quiet or not checker.typing) and not self._interrupted():
                self._at_work = checker
                checker.save(self._interrupted)
                self._at_work = None

    def prepare(self) -> None:
        """Makes ready for an edit of a file that is open."""
        for checker in self._to_wake():
            if not self._interrupted():
                checker.wake()

    def look(self) -> None:
        """Looks which files the programs have now; if they are others than at the last check, there is one to do."""
        self.looked = True
        if self._bring_programs_up_to_date():
            self.pending = Check(self.generation, ())

    def _to_wake(self) -> list[Checker]:
        """The checkers that are not ready for an edit, while somebody has a file of theirs open."""
        edited = {self._folder_of(path) or path for path in self._edits}
        return [checker for key, checker in self._checkers.items() if key in edited and checker.resting]

    def _to_ask(self) -> bool:
        """Whether there are findings that provers were not asked about."""
        return any(checker.unasked for checker in self._checkers.values())

    def _progress(self, generation: int) -> Callable[[str, int, int], None]:
        def show(text: str, done: int, total: int) -> None:
            self._send(Progress(generation, text, 100 * done // total if total else None))

        return show

    def _bring_programs_up_to_date(self) -> bool:
        """A checker for each program there is now, with the files it has now; whether any are others."""
        differs = False
        for key in self._keys():
            if key not in self._checkers:
                jobs = 2 if key in self._folders else 1
                self._checkers[key] = checker = Checker(self._options, jobs=jobs, store=self._store_of(key), told=self._news)
                for edit in self._edits.values():
                    checker.change(edit.path, edit.text, edit.version)
            extra = [path for path in self._edits if path.endswith(".c") and self._folder_of(path) == key]
            differs = self._checkers[key].open_workspace(key, extra) or differs
        return differs

    def _keys(self) -> list[str]:
        """The programs there are: folders, and files outside of them."""
        return [*self._folders, *(path for path in self._edits if path.endswith(".c") and not self._folder_of(path))]

    def _store_of(self, key: str) -> Store | None:
        """The store of a program; programs of one workspace have the same."""
        store = open_store(self._chosen_store, key if key in self._folders else os.path.dirname(key))
        return None if store is None else self._stores.setdefault(store.path, store)

    def _folder_of(self, path: str) -> str | None:
        """The innermost folder of the workspace that the file is in."""
        inside = [folder for folder in self._folders if path.startswith(folder.rstrip(os.sep) + os.sep)]
        return max(inside, key=len, default=None)

    def _in_order(self, focus: Iterable[str]) -> list[str]:
        """The programs, those that the user looks at first."""
        wanted = [self._folder_of(os.path.abspath(path)) or os.path.abspath(path) for path in focus]
        return list(dict.fromkeys([*(key for key in wanted if key in self._checkers), *self._checkers]))

    def _tell(self, generation: int, focus: tuple[str, ...], reports: list[tuple[Checker, Report]]) -> None:
        """Sends what differs from what was said last, files in focus first, and all of the files that were opened or closed."""
        results = _by_file(generation, reports)
        for path in self._told:
            if path not in results:  # it had results, and has none now: they must go away
                results[path] = FileResult(generation, path, self._version(path), (), (), ())
        first = list(dict.fromkeys(os.path.abspath(path) for path in focus))
        for path in dict.fromkeys([*(p for p in first if p in results), *results]):
            result = results[path]
            last = self._told.get(path)
            if path in self._turned or last is None or msgspec.structs.replace(last, generation=generation) != result:
                self._send(result)
                self._turned.discard(path)
            self._told[path] = result
        self._told = {path: result for path, result in self._told.items() if not _is_empty(result)}

    def _tell_done(
        self, generation: int, reports: list[tuple[Checker, Report]], rechecked: tuple[Rechecked, ...], after: float
    ) -> None:
        """Says that nothing more comes for a generation, and what it took; `after` the reports, some milliseconds."""
        total = sum((report.times.total for _, report in reports), after)
        one = reports[0][1] if len(reports) == 1 else None
        loose = tuple(m for _, report in reports for m in report.messages if not m.path)
        loose += tuple(message for store in self._stores.values() for message in store.take_messages())
        times = msgspec.structs.replace(one.times if one else Times(), afterwards=after, total=total)
        self._send(CheckDone(generation, one.work if one else Work(), times, loose, rechecked))

    def _version(self, path: str) -> int | None:
        edit = self._edits.get(path)
        return None if edit is None else edit.version


def _collect() -> None:
    """Frees what edits left in cycles. What a check from nothing made is of use, and to look through it takes seconds: that is
    never done."""
    if gc.get_count()[0] > _MANY_OBJECTS:
        gc.freeze()
    else:
        gc.collect(1)


def _by_file(generation: int, reports: list[tuple[Checker, Report]]) -> dict[str, FileResult]:
    """What the reports say of each file, headers included, by absolute path."""
    absolute = cache(os.path.abspath)
    findings: dict[str, list[Finding]] = {}
    functions: dict[str, list[FunctionReport]] = {}
    messages: dict[str, list[Message]] = {}
    versions: dict[str, int | None] = {}
    for checker, report in reports:
        for finding in report.findings:
            findings.setdefault(absolute(finding.place.path), []).append(finding)
        for function in report.functions:
            functions.setdefault(absolute(function.place.path), []).append(function)
        for message in report.messages:
            if message.path:
                messages.setdefault(absolute(message.path), []).append(message)
        for path in [*(file.path for file in report.files), *findings, *functions, *messages]:
            versions.setdefault(absolute(path), checker.version(path))
    results = {}
    for path, version in versions.items():
        results[path] = FileResult(
            generation,
            path,
            version,
            findings=tuple(findings.get(path, ())),
            functions=tuple(functions.get(path, ())),
            messages=tuple(messages.get(path, ())),
        )
    return results


def _is_empty(result: FileResult) -> bool:
    return not (result.findings or result.functions or result.messages)


def serve(requests: BinaryIO, events: BinaryIO) -> None:
    """Answers requests until the stream ends or a Shutdown comes."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # the first request may arrive before there is anything to interrupt
    inbox = _Inbox(requests)

    def send(event: Event) -> None:
        events.write(frame(event))
        events.flush()

    service = Service(send, interrupted=lambda: inbox.waiting, told=inbox.tell)
    signal.signal(signal.SIGUSR1, service.interrupt)
    with contextlib.closing(service):
        _answer(inbox, service, send)


def _answer(inbox: _Inbox, service: Service, send: Callable[[Event], None]) -> None:
    while True:
        arrived = inbox.take(service.patience)
        idle = not arrived and not service.pending
        for request in arrived:
            if request is None or isinstance(request, Shutdown):
                return
            service.accept(request)
        try:
            if not idle:
                service.work()
                service.answer()
            elif inbox.news:
                inbox.news = False  # before what it announces is taken
                service.hear()
            elif service.looked:
                service.rest()
            else:
                service.look()
        except BrokenPipeError:
            return
        except Exception as error:  # the process must survive a defect of its own: the next edit may avoid it
            _log.exception("A check failed")
            send(Failed(service.generation, f"The check failed by a defect of Everproof: {type(error).__name__}: {error}"))


def main() -> None:
    """Serves standard input and output."""
    gc.disable()  # a collection among a program's millions of objects takes seconds: only what edits made is looked at, at rest
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="everproof worker: %(message)s")
    requests = os.fdopen(os.dup(0), "rb")
    events = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # a child of ours must not read our requests
    os.dup2(2, 1)  # nor may a stray print write into our events
    shipped_rules()  # kept for the first check; the server takes longer to start than this process
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        serve(requests, events)


if __name__ == "__main__":
    main()
