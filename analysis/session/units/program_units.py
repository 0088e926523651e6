"""The units of a program over its revisions: which are built again, and what they keep of their last revision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from analysis.frontend.text.preprocess import Preprocessed
from analysis.frontend.text.source_columns import FileMap
from analysis.model.digest import digest_value
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags
from analysis.session.files.texts import Texts
from analysis.session.units.built import Built
from analysis.session.units.file_building import build, make_ready
from analysis.session.units.in_programs import InPrograms
from analysis.session.units.kept_functions import keep
from analysis.session.units.new_headers import NewHeaders
from analysis.session.units.parallel_building import build_many
from analysis.session.units.unit_view import UnitView

_FEW = 4  # for no more files than this, starting processes costs more than it saves

Progress = Callable[[str, int, int], None]
Stop = Callable[[], bool]


class Units:
    """All units of a session, by path as the user spelled it. `expects_edits`: other texts of the same files will follow."""

    def __init__(self, options: Options, texts: Texts, jobs: int, *, expects_edits: bool = False) -> None:
        self._options = options
        self._texts = texts
        self._jobs = jobs
        self._expects_edits = expects_edits
        self.revision = 0
        self._units: dict[str, UnitView] = {}
        self._tried: dict[str, Preprocessed] = {}  # what cannot be made ready
        self._headers: dict[str, str | None] = {}  # the digests of all units' headers when they were looked at last
        self._around: dict[str, UnitView] = {}  # the units that were built from just these
        self._new_headers = NewHeaders(texts)
        self._in_programs = InPrograms()

    def forget(self) -> None:
        """Drops everything that was built."""
        self._units.clear()
        self._tried.clear()
        self._headers.clear()
        self._around.clear()
        self._new_headers.forget()
        self._in_programs.forget()

    def adopt(self, units: Iterable[UnitView]) -> None:
        """Takes over units that were built by an earlier process."""
        self._units = {unit.path: unit for unit in units}

    def retry_failed(self) -> None:
        """Has units built again that lacked something, such as a header: it may be there now."""
        for path, unit in self._units.items():
            if unit.built.preprocessed.messages:
                self._units[path] = msgspec.structs.replace(unit, retry=True)

    def any_of(self, files: Sequence[str]) -> bool:
        """Whether any of these files was built."""
        return any(path in self._units for path in files)

    def known(self) -> list[UnitView]:
        """The units built so far, as they are linked, for a revision that was given up."""
        return self._in_programs.of(list(self._units.values()))

    def revise(
        self, files: Sequence[str], flags: Mapping[str, UnitFlags], progress: Progress | None, stop: Stop | None
    ) -> list[UnitView] | None:
        """The units of `files` in this revision, in their order, as they are linked; None when `stop` asked to give up. What was
        built stays."""
        self._texts.begin()
        self._look_around()
        self.revision += 1
        self._units = {path: self._units[path] for path in files if path in self._units}
        self._look_for_new_headers()
        marks = {path: digest_value(flags[path]) for path in files}
        todo = [path for path in files if not self._is_current(path, marks[path])]
        overlay = self._texts.overlay()
        if self._jobs > 1 and len(todo) > _FEW and len(todo) == len(files):
            for path, built in build_many(todo, flags, self._options, overlay, self._jobs, progress, stop):
                self._enter(path, marks[path], built)
            todo = [path for path in todo if path not in self._units]
        for number, path in enumerate(todo):
            if stop is not None and stop():
                return None
            if progress is not None:
                progress("Reading", number, len(todo))
            before = self._units.get(path)
            only_text = before is not None and before.new == self._texts.new and self._surroundings_stay(before, marks[path])
            previous = None if before is None else before.built
            built = build(
                path,
                self._texts.unsaved(path),
                flags[path],
                self._options,
                overlay,
                previous,
                only_text,
                self._with_macros(files),
            )
            self._enter(path, marks[path], built)
        self._know_lookups(files, flags)
        return self._in_programs.of([self._units[path] for path in files])

    def _with_macros(self, files: Sequence[str]) -> bool:
        """Whether macros are asked for at once. Of many files, most will stay as they are."""
        return self._expects_edits and len(files) <= _FEW

    @property
    def unready(self) -> list[UnitView]:
        """The open files' units for which `make_ready` has something to do."""
        return [
            unit
            for path, unit in self._units.items()
            if self._texts.unsaved(path) is not None
            and unit.built.preprocessed.macros is None
            and self._tried.get(path) is not unit.built.preprocessed
        ]

    def make_ready(self, flags: Mapping[str, UnitFlags]) -> None:
        """Does what the next edit of an open file would else begin with (`file_building.make_ready`)."""
        for unit in self.unready:
            self._tried[unit.path] = unit.built.preprocessed
            if unit.path in flags and self._is_current(unit.path, digest_value(flags[unit.path])):
                built = make_ready(unit.built, flags[unit.path], self._options, self._texts.overlay())
                self._units[unit.path] = msgspec.structs.replace(unit, built=built)

    def _is_current(self, path: str, flags: str) -> bool:
        unit = self._units.get(path)
        return unit is not None and unit.digest == self._texts.digest(path) and self._surroundings_stay(unit, flags)

    def _surroundings_stay(self, unit: UnitView, flags: str) -> bool:
        """Whether the flags and headers of a unit are what they were. Its own file may differ."""
        return not unit.retry and unit.flags == flags and self._headers_stay(unit)

    def _headers_stay(self, unit: UnitView) -> bool:
        if self._around.get(unit.path) is unit:
            return True
        same = all(self._texts.digest_at(header) == digest for header, digest in unit.headers.items())
        if same:
            self._know_headers(unit)
        return same

    def _know_headers(self, unit: UnitView) -> None:
        self._headers.update(unit.headers)
        self._around[unit.path] = unit

    def _look_around(self) -> None:
        """Looks at each header once, however many units include it, and asks no unit about its own where none is another."""
        now = {header: self._texts.digest_at(header) for header in self._headers}
        if now != self._headers:
            self._headers, self._around = now, {}

    def _look_for_new_headers(self) -> None:
        """Has all units preprocessed again if a file came to be, or went, where one of them may look for a header. Of those that
        look for more than is known that is always so."""
        differ = self._new_headers.differ()
        for path, unit in self._units.items():
            if differ or self._new_headers.is_open(path):
                self._units[path] = msgspec.structs.replace(unit, retry=True)

    def _know_lookups(self, files: Sequence[str], flags: Mapping[str, UnitFlags]) -> None:
        for path in files:
            preprocessed = self._units[path].built.preprocessed
            if not preprocessed.raw:
                self._new_headers.add(path, flags[path], preprocessed.dependencies)

    def _enter(self, path: str, flags: str, built: Built) -> None:
        if self._texts.unsaved(path) is None:  # nobody types in it: its tree only takes memory
            built = msgspec.structs.replace(built, tree=None)
        before = self._units.get(path)
        kept = keep(built, None if before is None else before.kept, None if before is None else before.built)
        places = FileMap(built.preprocessed, self._texts.overlay())
        digest, new = self._texts.digest(path), self._texts.new
        headers = self._headers_of(built.preprocessed, before)
        unit = self._units[path] = UnitView(path, built, kept, places, flags, digest, headers, self.revision, new=new)
        self._know_headers(unit)

    def _headers_of(self, preprocessed: Preprocessed, before: UnitView | None) -> Mapping[str, str | None]:
        known = before is not None and self._around.get(before.path) is before
        if known and before is not None and preprocessed.dependencies is before.built.preprocessed.dependencies:
            return before.headers
        return {header: self._texts.digest(header) for header in preprocessed.dependencies}
