"""The report of a difference that an audit has found: JSON that can be attached to an issue.

It holds texts of the user's program, if these are needed to show the difference. It is written to the user's cache folder, and
sent nowhere.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec
import platformdirs

from analysis.model.digest import digest_text
from analysis.model.distribution import everproof_version
from analysis.model.options import Options
from analysis.model.report_differences import Difference
from analysis.worker.auditing.journal import Text

_NOT_SHOWN = "the edits since the last check from scratch do not show the difference by themselves"


class Edits(msgspec.Struct, frozen=True):
    """The texts of files before the edits, and the edits, each the new text of a file; null is what is on the disk."""

    before: dict[str, Text]
    edits: tuple[tuple[str, Text], ...]


class DifferenceReport(msgspec.Struct, frozen=True):
    """What differs, and what shows it: edits, or a sentence why there are none."""

    everproof: str
    program: str
    options: Options
    differences: tuple[Difference, ...]
    reproduced_by: Edits | str


def report_of(program: str, options: Options, differences: Sequence[Difference], edits: Edits | None) -> DifferenceReport:
    """The report on a program; `edits` are those that show the difference, if any do."""
    return DifferenceReport(everproof_version(), program, options, tuple(differences), edits or _NOT_SHOWN)


def write_report(report: DifferenceReport) -> str | None:
    """Writes the report, in place of an earlier one on this program; its path, None if it cannot be written."""
    folder = platformdirs.user_cache_dir("everproof", appauthor=False)
    path = os.path.join(folder, f"self-audit-{digest_text(report.program)[:16]}.json")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(report)))
    except OSError:
        return None
    return path
