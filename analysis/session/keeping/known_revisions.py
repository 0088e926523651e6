"""What was found in revisions of a program: one that was checked before costs a look at its files, and nothing else.

Of a revision only that is kept by which its findings are known in others (`model.same_findings`). It tells new findings from
older ones; no verdict and no proof comes from it. It counts for texts under the conditions of `archive.Snapshot.holds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

from analysis.model.digest import digest_value
from analysis.model.report import Message
from analysis.model.same_findings import FoundThere, found_in
from analysis.model.unit_flags import UnitFlags
from analysis.session.files.texts import Texts
from analysis.session.keeping.archive import Snapshot, is_there
from analysis.store.database import Store
from analysis.store.packing import Codec, PackingError
from analysis.store.records import Record

_KIND = "revisions"
MOST_REVISIONS = 16
"""How many revisions of a program are kept; the first that were kept go first."""


class KnownRevision(msgspec.Struct, frozen=True):
    """What was found in a revision. `files` are those of the program with digests of their flags, in their order; `digests` has
    all that they were made from, None for what could not be read; `unmet` is what was not there and would have been read.
    `examined` are the files about whose functions provers were asked, None if they were not asked."""

    files: tuple[tuple[str, str], ...]
    messages: tuple[Message, ...]
    digests: dict[str, str | None]
    unmet: tuple[str, ...]
    found: FoundThere
    examined: tuple[str, ...] | None

    def holds(self, files: Sequence[str], flags: Mapping[str, UnitFlags], messages: tuple[Message, ...], texts: Texts) -> bool:
        """Whether it is a program of these files, as they are now."""
        return (
            tuple(files) == tuple(path for path, _ in self.files)
            and messages == self.messages
            and all(digest == digest_value(flags[path]) for path, digest in self.files)
            and all(texts.digest(path) == digest for path, digest in self.digests.items())
            and not any(is_there(path, texts) for path in self.unmet)
        )

    def is_of_the_same(self, other: KnownRevision) -> bool:
        """Whether it is the same revision."""
        return (self.files, self.digests, self.unmet) == (other.files, other.digests, other.unmet)


def known_revision(snapshot: Snapshot, examined: tuple[str, ...] | None) -> KnownRevision:
    """What there is to keep of a snapshot."""
    return KnownRevision(
        tuple((unit.path, unit.flags) for unit in snapshot.units),
        snapshot.messages,
        {path: digest for unit in snapshot.units for path, digest in unit.files.items()},
        snapshot.unmet,
        found_in(snapshot.report),
        examined,
    )


def with_revision(kept: Sequence[KnownRevision], revision: KnownRevision) -> tuple[KnownRevision, ...]:
    """What is to be kept, the newest first."""
    return (revision, *(one for one in kept if not one.is_of_the_same(revision)))[:MOST_REVISIONS]


@cache
def _codec() -> Codec[tuple[KnownRevision, ...]]:
    """Made when it is first needed."""
    return Codec(tuple[KnownRevision, ...])


class KnownRevisions:
    """What a store has of the revisions of programs, each under the name of a group."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, group: str) -> tuple[KnownRevision, ...]:
        """All that is kept; nothing where that cannot be understood."""
        found = self._get(group)
        self._store.close()  # nothing is open while processes are forked
        return found

    def _get(self, group: str) -> tuple[KnownRevision, ...]:
        data = self._store.read(group, _KIND, "")
        try:
            return () if data is None else _codec().decode(data)
        except PackingError:
            return ()

    def keep(self, group: str, label: str, revision: KnownRevision) -> bool:
        """Keeps a revision, in the place of what is known of it so far. Returns whether it is there."""
        kept = self._get(group)
        now = with_revision(kept, revision)
        written = now == kept or self._store.write(group, label, [Record(_KIND, "", _codec().encode(now))])
        self._store.close()
        return written
