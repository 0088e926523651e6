"""The contracts of one program while it is edited: of the text as it is now, and of that which was saved last.

What somebody asks for comes first. Then edited functions are looked at: of the program as it was when a file was opened, or
saved last, all that is needed is kept, as programs are immutable; so the contract of an edited function is compared with the one
that it had then. Then all other functions are followed, those of open files first, so that whoever asks next does not wait. After
an edit most of that is taken over: a function is followed again if its body differs, or the contract of something that it calls.

To save is to name a version of a text. The program of that version is taken when it has been checked; if the text changed
before that, nothing is compared until the file is saved again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from analysis.c.declared import agrees
from analysis.cfa.callgraph import callers
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import LinkedProgram
from analysis.model.report import Rechecked
from analysis.model.spelling import display_name
from analysis.session.contracts.changes import change_text, unchanged_text
from analysis.session.contracts.declarations import Declarations
from analysis.session.contracts.function_contract import FunctionContract
from analysis.session.contracts.library_contracts import library_contract
from analysis.session.contracts.program_contracts import ProgramContracts, Shown
from analysis.session.units.unit_view import UnitView

MOST_SECONDS = 30.0  # of the processor, for all that is looked at after one edit while nobody waits
MOST_TO_FOLLOW = 300.0  # of the processor, for all functions of a program, since the last of its texts was opened
MOST_EDITED = 20  # functions of one file that are compared
_MOST_BEFORE = 3  # revisions

GoesOn = Callable[[], bool]


class Told(NamedTuple):
    """A contract that somebody asked for. `is_whole`: nothing is left out for lack of time."""

    contract: FunctionContract
    is_whole: bool


class Change(NamedTuple):
    """What edits did to the contract of a function of a file, in words. `is_same`: callers rely on the same as before."""

    path: str
    function: str
    text: str
    is_same: bool


class _Saved:
    """The program when a file was opened, or saved last. `concerned`: functions that had to be checked again since, because of
    something that they call, by their names without linkage; None if it is not known which."""

    def __init__(self, contracts: ProgramContracts) -> None:
        self.contracts = contracts
        self.concerned: set[str] | None = set()

    def note(self, rechecked: Iterable[Rechecked]) -> None:
        """Takes over which functions a check looked at again because of what they call."""
        for one in rechecked:
            if one.reason == "scratch":
                self.concerned = None
            elif one.reason in ("callee", "summary", "together") and self.concerned is not None:
                self.concerned.add(one.function)

    def concerns_none(self, callers: Iterable[str]) -> bool:
        """Whether none of these functions had to be checked again."""
        return self.concerned is not None and self.concerned.isdisjoint(map(display_name, callers))


class OpenContracts:
    """The contracts of one program. Paths are as the program has them."""

    def __init__(self) -> None:
        self._now: ProgramContracts | None = None
        self._before: list[ProgramContracts] = []  # of revisions that do not take over from each other
        self._linked: LinkedProgram | None = None
        self._units: Sequence[UnitView] = ()
        self._saved: dict[str, _Saved] = {}
        self._waiting: dict[str, int | None] = {}  # files that were saved, with the version, and whose program is not known
        self._open: set[str] = set()
        self._wanted: dict[str, None] = {}
        self._until = 0.0
        self._left: Iterator[str] = iter(())  # functions that were not followed so far
        self._is_followed, self._followed_for = True, 0.0
        self._changes: tuple[Change, ...] | None = ()  # None: to be looked for
        self._had_changes = False

    def changed(self, path: str, version: int | None, *, is_open: bool) -> None:
        """A text changed, or was opened, or closed: nothing is known of the program as it is now."""
        self._linked, self._units, self._wanted, self._is_followed = None, (), {}, True
        if not is_open:
            self._open.discard(path)
            self._saved.pop(path, None)
            self._waiting.pop(path, None)
        elif path not in self._open:
            self._open.add(path)
            self._waiting[path], self._followed_for = version, 0.0

    def saved(self, path: str, version: int | None, now: int | None) -> None:
        """A version of an open file was saved; `now` is that of its present text."""
        if path in self._open:
            self._waiting[path] = version
            if self._linked is not None:
                self._take_saved(path, now)
                self._compare_again(self._linked.program)

    def forget(self) -> None:
        """All that was computed of the program as it is now is dropped."""
        self._now, self._before, self._linked, self._units, self._wanted = None, [], None, (), {}
        self._is_followed = True

    def checked(
        self,
        linked: LinkedProgram,
        units: Sequence[UnitView],
        rechecked: Iterable[Rechecked],
        version: Callable[[str], int | None],
    ) -> None:
        """A check of the texts as they are now is complete, or they are known to be those of the store. `version` is that of the
        text of a file."""
        if self._now is None or self._now.program is not linked.program:
            if self._now is not None and self._now.begun:
                self._before = [self._now, *self._before][:_MOST_BEFORE]
            self._now = ProgramContracts(linked.program)
            of_open, of_others = self._by_openness(linked.program)
            self._left, self._is_followed = iter((*of_open, *of_others)), False
        self._linked, self._units = linked, units
        for one in self._saved.values():
            one.note(rechecked)
        for path in tuple(self._waiting):
            self._take_saved(path, version(path))
        self._until = time.process_time() + MOST_SECONDS
        self._compare_again(linked.program)

    def _compare_again(self, program: Program) -> None:
        """Contracts are to be compared if the program is another than one that was saved, or what was said may not hold now."""
        differs = any(one.contracts.program is not program for one in self._saved.values())
        self._changes = None if differs or self._had_changes else ()

    def _take_saved(self, path: str, now: int | None) -> None:
        """Takes the program for that of a file's saved text, if it is; `now` is the version that it has of the file."""
        saved = self._waiting[path]
        if now is not None and saved is not None and now < saved:
            return  # the saved text is still to come
        del self._waiting[path]
        self._saved.pop(path, None)
        if now == saved and self._now is not None:
            self._saved[path] = _Saved(self._now)

    def tell(self, path: str, name: str, goes_on: GoesOn) -> Told | None:
        """What is known of a function that is named in a file; None if nothing is. What there is no time for is done by
        `go_on`."""
        if self._now is None or self._linked is None:
            return None
        linkage = self._linkage(path, name)
        if linkage is None:
            return self._of_library(path, name)
        shown = self._contracts(self._now).of(linkage, goes_on)
        if not shown.is_whole:
            self._wanted[linkage] = None
            self._until = time.process_time() + MOST_SECONDS
        return Told(msgspec.structs.replace(shown.contract, declared=self._declarations().of(linkage)), shown.is_whole)

    def _of_library(self, path: str, name: str) -> Told | None:
        external = None if self._linked is None else self._linked.program.externals.get(name)
        if external is not None and not agrees(name, external.type):
            return None
        written = "" if external is None else self._declarations().of_external(name, path)
        contract = library_contract(name, external, written)
        return None if contract is None else Told(contract, is_whole=True)

    def _declarations(self) -> Declarations:
        return Declarations(self._units, {} if self._linked is None else self._linked.sources)

    def _linkage(self, path: str, name: str) -> str | None:
        """The function that a name stands for in a file: one of that file, one with external linkage, or one of a header."""
        assert self._linked is not None
        functions, sources = self._linked.program.functions, self._linked.sources
        named = [one for one in functions if display_name(one) == name]
        own = [one for one in named if functions[one].path == path]
        linked = [name] if name in functions else []
        included = [one for one in named if one in sources and sources[one].unit == path]
        return next(iter((*own, *linked, *included)), None)

    @property
    def unfinished(self) -> bool:
        """Whether `go_on` has something to do."""
        return self._linked is not None and (bool(self._wanted) or self._changes is None)

    def go_on(self, goes_on: GoesOn) -> tuple[Change, ...] | None:
        """Goes on with what somebody asked for, and with comparing edited functions. The changes of all open files, once they are
        found; None if there is nothing new. What takes longer than `MOST_SECONDS` is left out."""
        if self._now is None or self._linked is None:
            return None
        for name in tuple(self._wanted):
            if not self._contracts(self._now).of(name, lambda: goes_on() and self._has_time).is_whole and self._has_time:
                return None
            del self._wanted[name]
        if self._changes is not None:
            return None
        found = []
        for path, name in self._edited():
            change = self._compared(path, name, goes_on)
            if change is None and self._has_time:
                return None
            if change is not None and change.text:
                found.append(change)
        self._changes, self._had_changes = tuple(found), bool(found)
        return self._changes

    def _by_openness(self, program: Program) -> tuple[list[str], list[str]]:
        """The functions of open files, and all others."""
        of_open, of_others = list[str](), list[str]()
        for name, cfa in program.functions.items():
            (of_open if cfa.path in self._open else of_others).append(name)
        return of_open, of_others

    @property
    def unfollowed(self) -> bool:
        """Whether `follow_all` has something to do."""
        return not self._is_followed and self._linked is not None and self._followed_for < MOST_TO_FOLLOW

    def follow_all(self, goes_on: GoesOn) -> None:
        """Goes on with following all functions, so that whoever asks does not wait."""
        assert self._now is not None
        began, contracts = time.process_time(), self._contracts(self._now)
        for name in self._left:
            if not contracts.follow(name, goes_on) and not goes_on():
                self._left = chain((name,), self._left)
                break
        else:
            self._is_followed = True
        self._followed_for += time.process_time() - began

    def _contracts(self, now: ProgramContracts) -> ProgramContracts:
        """The contracts of the program as it is, with what can be taken over of a revision before. (Half a line may declare what
        nothing is known of; what was known before that counts again when it is whole.)"""
        if not now.begun:
            used = next((one for one in self._before if now.take_over(one)), None)
            self._before = [one for one in self._before if one is not used]
        return now

    @property
    def _has_time(self) -> bool:
        return time.process_time() < self._until

    def _edited(self) -> Iterator[tuple[str, str]]:
        """The functions of open files that are other than they were when the file was saved, each with its file."""
        for path, saved in sorted(self._saved.items()):
            yield from ((path, name) for name in self._edited_in(path, saved.contracts.program)[:MOST_EDITED])

    def _edited_in(self, path: str, before: Program) -> list[str]:
        assert self._linked is not None
        old, found = before.functions, []
        for name, cfa in self._linked.program.functions.items():
            known = old.get(name)
            if cfa.path == path and known is not None and known is not cfa and known.digest != cfa.digest:
                found.append(name)
        return found

    def _compared(self, path: str, name: str, goes_on: GoesOn) -> Change | None:
        """What edits did to the contract of one function; None if the time is over."""
        assert self._now is not None
        saved, cfa = self._saved[path], self._now.program.functions[name]
        before = saved.contracts.of(name, lambda: goes_on() and self._has_time, named=cfa)
        if not before.basis:
            return None
        self._contracts(self._now).take_over(saved.contracts)
        now = self._now.of(name, lambda: goes_on() and self._has_time)
        if not now.basis or (not now.counted and self._has_time):
            return None
        is_same = _is_same(before, now) and saved.concerns_none(callers(self._now.program).get(name, ()))
        kept = now.contract.callers_discharging[0] if now.counted else None
        text = change_text(before.contract, now.contract, now.callers, kept)
        return Change(path, display_name(name), text or (unchanged_text(now.callers) if is_same else ""), is_same)


def _is_same(before: Shown, now: Shown) -> bool:
    """Whether callers rely on the same, and what is said is the same."""
    return before.basis == now.basis and not change_text(before.contract, now.contract, 0, None)
