"""What a session keeps in a store, and when that is still true (invariant I6).

Of a program there is one *snapshot*, that of its last check: the report; the digests of all that it depends on; and, for the next
edit, the units (`stored_units`) and the derivation graph (`engines.automaton.solver.packed`), which are records of their own,
by digest.
Whether a snapshot is a program's own is in the name of its group: the tool, the options, the rules, the compiler, and what was
asked for. Then two cases:

- All files hold what they held, and no header has appeared where it would be found first: the report is the answer. Nothing
  but the snapshot is read.
- Some differ: the units and the graph are read, and the check goes on from them as it would have in the process that wrote them.

Not kept: what depends on what was there before (functions that do not parse and are checked with their last good text); what a
repeated run may do better (a compiler that failed, a header that was not found); what depends on the time, or on whether there
are files whose names only macros say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import NamedTuple

import msgspec

from analysis.frontend.text.source_columns import FileMap
from analysis.model.collecting import without_collecting
from analysis.model.digest import digest_text, digest_value
from analysis.model.limits import Limits
from analysis.model.report import Count, Message, ProofReuse, Report, SummaryWork, Times
from analysis.model.unit_flags import UnitFlags
from analysis.session.files.texts import Texts
from analysis.session.keeping.stored_units import pack_unit, unpack_unit
from analysis.session.units.built import Built
from analysis.session.units.kept_functions import Kept
from analysis.session.units.lookups import Lookups, asked_by
from analysis.session.units.program_units import Stop
from analysis.session.units.unit_view import UnitView
from analysis.store.database import Store
from analysis.store.packing import Codec, PackingError
from analysis.store.records import Record

HANDED_OVER = "handed over: "
"""How the label of its group begins in the store."""
_HANDED_OVER = "handed over"
_BOM = b"\xef\xbb\xbf"
_SNAPSHOT, _UNIT, _GRAPH = "snapshot", "unit", "graph"


class KeptUnit(msgspec.Struct, frozen=True):
    """A unit of a snapshot: what `UnitView` says of it, and its record. `files` are all that it was made from: the digest of each
    by absolute path, None for one that could not be read."""

    path: str
    flags: str
    digest: str | None
    headers: dict[str, str | None]
    files: dict[str, str | None]
    record: str


class Snapshot(msgspec.Struct, frozen=True):
    """What is kept of a program. `unmet` are files that were not there and would have been read. `graph` is its record.
    `decided`: provers could say no more of the report's findings."""

    report: Report
    messages: tuple[Message, ...]
    units: tuple[KeptUnit, ...]
    unmet: tuple[str, ...]
    graph: str | None
    decided: bool = True

    def holds(self, files: Sequence[str], flags: Mapping[str, UnitFlags], messages: tuple[Message, ...], texts: Texts) -> bool:
        """Whether the report is that of a program of these files, as they are now."""
        return (
            tuple(files) == tuple(unit.path for unit in self.units)
            and messages == self.messages
            and all(unit.flags == digest_value(flags[unit.path]) for unit in self.units)
            and all(texts.digest(path) == digest for path, digest in {file for unit in self.units for file in unit.files.items()})
            and not self.looked_up_anew(texts)
        )

    def looked_up_anew(self, texts: Texts) -> bool:
        """Whether something is there now that would have been read, so that every unit must be preprocessed again."""
        return any(is_there(path, texts) for path in self.unmet)


class _Packed(NamedTuple):
    built: Built
    record: Record


@cache
def _codec() -> Codec[Snapshot]:
    """Made when it is first needed."""
    return Codec(Snapshot)


class Archive:
    """One program's place in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[str, tuple[Built, str]] = {}
        self._pending: dict[str, _Packed] = {}

    @property
    def usable(self) -> bool:
        """Whether anything can be kept, as far as is known."""
        return self._store.usable

    def forget(self) -> None:
        """Drops what is known of what is in the store."""
        self._kept.clear()
        self._pending.clear()

    def snapshot(self, group: str) -> Snapshot | None:
        """What is kept under the name; None if there is nothing, or nothing that can be understood."""
        data = self._store.read(group, _SNAPSHOT, "")
        self._store.close()  # nothing is open while processes are forked
        try:
            return None if data is None else _codec().decode(data)
        except PackingError:
            return None

    def snapshots(self) -> Iterator[Snapshot]:
        """All that is kept, the most recently used first."""
        groups = [group for group, _ in self._store.named(_SNAPSHOT)]
        found = (self.snapshot(group) for group in groups)
        return (snapshot for snapshot in found if snapshot is not None)

    def take_in(self, root: str, file: bytes) -> bool:
        """Keeps what another machine has handed over, for the workspace with this top. Returns whether it is there."""
        record = Record(_HANDED_OVER, "", file)
        written = self._store.write(_handed_over_group(root), f"{HANDED_OVER}{root}", [record])
        self._store.close()
        return written

    def handed_over(self, root: str) -> bytes | None:
        """What another machine has handed over, for the workspace with this top; None if nothing was."""
        file = self._store.read(_handed_over_group(root), _HANDED_OVER, "")
        self._store.close()
        return file

    def touch(self, group: str) -> None:
        """Notes that what is kept was of use."""
        self._store.touch(group)
        self._store.close()

    def units(self, group: str, snapshot: Snapshot, texts: Texts) -> list[UnitView]:
        """The units of the snapshot, as far as they can be read."""
        found: list[UnitView] = []
        overlay, retry = texts.overlay(), snapshot.looked_up_anew(texts)
        with without_collecting():
            for kept in snapshot.units:
                data = self._store.read(group, _UNIT, kept.record)
                try:
                    built = None if data is None else unpack_unit(data)
                except PackingError:
                    continue
                if built is not None:
                    self._kept[kept.path] = built, kept.record
                    places = FileMap(built.preprocessed, overlay)
                    view = UnitView(kept.path, built, Kept(built.unit), places, kept.flags, kept.digest, kept.headers, 0, retry)
                    found.append(view)
        return found

    def graph(self, group: str, snapshot: Snapshot) -> bytes | None:
        """The packed graph of the snapshot."""
        data = None if snapshot.graph is None else self._store.read(group, _GRAPH, snapshot.graph)
        self._store.close()
        return data

    def write(
        self,
        group: str,
        label: str,
        snapshot: Snapshot,
        units: Sequence[UnitView],
        graph: bytes | None,
        interruptible: AbstractContextManager[None],
        stop: Stop,
    ) -> bool:
        """Replaces the stored snapshot, its units and its graph in one transaction. Returns False if that was not
        possible, or if `stop` asked to give up. Packing runs within `interruptible`, a context that may be entered
        several times."""
        while True:
            packed: list[_Packed] = []
            kept: list[tuple[str, str]] = []
            entries: list[KeptUnit] = []
            for entry, unit in zip(snapshot.units, units, strict=True):
                if stop():
                    return False
                record = self._kept.get(unit.path)
                if record is not None and record[0] is unit.built:
                    kept.append((_UNIT, record[1]))
                else:
                    packed.append(self._pack(unit, interruptible))
                    record = unit.built, packed[-1].record.key
                entries.append(msgspec.structs.replace(entry, record=record[1]))
            records = [part.record for part in packed]
            if graph is not None:
                records.append(Record(_GRAPH, digest_text(graph), graph))
            key = None if graph is None else records[-1].key
            whole = msgspec.structs.replace(snapshot, units=tuple(entries), graph=key)
            records.append(Record(_SNAPSHOT, "", _codec().encode(whole)))
            written = not stop() and self._store.write(group, label, records, kept)
            self._store.close()
            if written:
                self._kept = {unit.path: (unit.built, entry.record) for unit, entry in zip(units, entries, strict=True)}
                self._pending.clear()
            if written or not kept:
                return written
            if stop():
                return False
            self._kept.clear()  # another process has replaced what was there

    def _pack(self, unit: UnitView, interruptible: AbstractContextManager[None]) -> _Packed:
        """The unit as it is to be kept; made once, though the writing may be ended again and again."""
        packed = self._pending.get(unit.path)
        if packed is None or packed.built is not unit.built:
            with interruptible, without_collecting():
                data = pack_unit(unit.built)
            packed = self._pending[unit.path] = _Packed(unit.built, Record(_UNIT, digest_text(data), data))
        return packed


def _handed_over_group(root: str) -> str:
    return digest_text(_HANDED_OVER, root)


def snapshot_of(
    report: Report, messages: tuple[Message, ...], units: Sequence[UnitView], flags: Mapping[str, UnitFlags], texts: Texts
) -> Snapshot | None:
    """The snapshot of a check, its records still without keys; None if its result is not one to be kept."""
    if not all(map(_can_be_kept, units)):
        return None
    files = [_files_of(unit, texts) for unit in units]
    unmet = _unmet(units, files, flags, texts)
    return None if unmet is None else Snapshot(_at_rest(report), messages, tuple(map(_entry, units, files)), unmet, None)


def _can_be_kept(unit: UnitView) -> bool:
    preprocessed = unit.built.preprocessed
    return (
        not unit.kept.stale
        and not unit.built.slots
        and not unit.retry
        and all(message.severity == "note" for message in preprocessed.messages)
        and unit.digest in (digest_text(preprocessed.source), digest_text(_BOM + preprocessed.source))
    )


def _files_of(unit: UnitView, texts: Texts) -> dict[str, str | None]:
    """The digests of all files that the unit's report depends on."""
    preprocessed = unit.built.preprocessed
    files = {os.path.abspath(unit.path): unit.digest, **unit.headers}
    for name in preprocessed.line_map.files:  # also those that only give places: the grammar that a parser was made from
        if name != preprocessed.line_map.main:
            path = os.path.normpath(os.path.join(preprocessed.folder, os.fsdecode(name)))
            if path not in files:
                files[path] = texts.digest(path)
    return files


def _entry(unit: UnitView, files: dict[str, str | None]) -> KeptUnit:
    return KeptUnit(unit.path, unit.flags, unit.digest, dict(unit.headers), files, "")


def _unmet(
    units: Sequence[UnitView], files: Sequence[Mapping[str, str | None]], flags: Mapping[str, UnitFlags], texts: Texts
) -> tuple[str, ...] | None:
    """The files that were not there and would have been read; None if more could be."""
    lookups = Lookups()
    for given in dict.fromkeys(flags[unit.path] for unit in units if not unit.built.preprocessed.raw):
        lookups.add_flags(given)
    limit = Limits().source_bytes
    read = dict.fromkeys(path for unit, of in zip(units, files, strict=True) if not unit.built.preprocessed.raw for path in of)
    for path in read:
        text = texts.read(path, limit)
        if text is not None:
            lookups.add_file(path, asked_by(text))
        lookups.add_header(path)
    if lookups.is_open:
        return None
    return tuple(dict.fromkeys(path for path in lookups.paths() if path not in read and not is_there(path, texts)))


def is_there(path: str, texts: Texts) -> bool:
    """Whether a file could be read now."""
    return texts.unsaved(path) is not None or os.path.exists(path)


def _at_rest(report: Report) -> Report:
    """The report as it is given again: all work reused, and no time spent."""

    def reused(count: Count) -> Count:
        return Count(reused=count.reused + count.recomputed)

    done = report.work
    work = msgspec.structs.replace(
        done,
        configurations=reused(done.configurations),
        derivations=reused(done.derivations),
        abstract_states=reused(done.abstract_states),
        functions=reused(done.functions),
        solver_queries=0,
        summaries=SummaryWork(),
        reuse=ProofReuse(),
    )
    return msgspec.structs.replace(report, work=work, times=Times(), rechecked=())
