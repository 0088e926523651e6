"""Which kinds of fixes there are for the findings of a rule: a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.fixes import freed_earlier, initialising, null_test, releasing
from analysis.fixes.asked_finding import AskedFinding, Family
from analysis.fixes.source_text import SourceText
from analysis.model.report import Finding
from analysis.model.text_changes import FIXABLE

Kind = Callable[[AskedFinding], Iterator[Family]]

_KINDS: tuple[tuple[str, Kind], ...] = (
    ("null-dereference", null_test.candidates),
    ("memory-leak", releasing.leaks),
    ("memory-cleanup", releasing.leaks),
    ("resource-leak", releasing.leaks),
    ("lock-discipline", releasing.locks),
    ("lock-discipline", freed_earlier.unlocked_again),
    ("use-after-free", freed_earlier.used_again),
    ("use-after-close", freed_earlier.used_again),
    ("use-after-close", freed_earlier.freed_again),
    ("double-free", freed_earlier.freed_again),
    ("uninitialized-read", initialising.candidates),
)

assert frozenset(rule for rule, _ in _KINDS) == FIXABLE


def families(source: SourceText, finding: Finding) -> list[Family]:
    """The candidates for a finding; none inside of macros, and where the text around it is not understood."""
    asked = AskedFinding(source, finding)
    if (
        finding.place.macro is not None
        or finding.place.gone
        or asked.function is None
        or not (asked.statement or asked.is_at_end)
    ):
        return []
    found = [family for rule, kind in _KINDS if rule == finding.rule for family in kind(asked)]
    return [family for family in found if family]
