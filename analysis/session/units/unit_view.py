"""A unit as it takes part in a revision of a program."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from analysis.frontend.text.source_columns import FileMap
from analysis.model.report import Message
from analysis.session.units.built import Built
from analysis.session.units.kept_functions import Kept


class UnitView(msgspec.Struct, frozen=True):
    """A unit as it takes part in a revision.

    `flags`, `digest` and `headers` are the digests of what it was built from. `revision`: the
    number of the revision that it was built for. `retry`: something was missing then. `new`: the files of which there were
    only unsaved texts, among which an include could find a header. `notes` are about what it means by names that have several
    definitions (`in_programs`).
    """

    path: str
    built: Built
    kept: Kept
    places: FileMap
    flags: str
    digest: str | None
    headers: Mapping[str, str | None]
    revision: int
    retry: bool = False
    new: frozenset[str] = frozenset()
    notes: tuple[Message, ...] = ()
