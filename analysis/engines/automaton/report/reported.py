"""Findings as they were reported, and what of them still holds after an edit.

A report has parts that rest on different things. Places rest on the text of the whole file, in which an edit moves all that is
behind it. Evidence rests on the functions that the path leads through, and on which steps stand in one line or in a macro. Which
steps explain an error rests on those functions alone at which was looked for that.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Places
from analysis.engines.automaton.report.chains import Joined
from analysis.engines.automaton.report.sibling_calls import Asked, Calls
from analysis.engines.automaton.report.suspicions import Error
from analysis.engines.automaton.report.trace import Explained
from analysis.engines.automaton.report.where_steps_stand import Stood
from analysis.model.evidence import Evidence
from analysis.model.report import Finding


class Supported(NamedTuple):
    """The evidence for an error on the path `joined`; `below` is the error itself, where it was raised to a call. It rests on
    these `functions`, on what was asked of where steps `stood` in the text, and on `calls`, which are all calls of the function
    `callee` whose result the error is about."""

    below: Error
    joined: Joined
    evidence: tuple[Evidence, ...]
    callee: Asked | None
    calls: Calls | None
    functions: frozenset[str]
    stood: Stood

    def is_about(self, below: Error, joined: Joined) -> bool:
        """Whether it is about this error on this path."""
        return self.below == below and is_same_path(self.joined, joined)

    def holds(self, differing: Set[str], calls: Calls | None, places: Places) -> bool:
        """Whether the same is to be said now of what it is about, where these functions differ; `calls` are those of now."""
        return differing.isdisjoint(self.functions) and self.calls == calls and self.stood.holds(places)


class Reported(msgspec.Struct, frozen=True):
    """A finding as it was reported, with the versions of the texts that its trace leads through, or its evidence rests on."""

    joined: Joined
    versions: list[tuple[str, object]]
    supported: Supported
    finding: Finding
    explained: Explained

    def has_versions_of(self, places: Places) -> bool:
        """Whether none of these texts has changed."""
        return all(places.version(name) is version for name, version in self.versions)

    def is_explained_by(self, joined: Joined, differing: Set[str]) -> bool:
        """Whether the same steps explain the error, where these functions differ."""
        return is_same_path(self.joined, joined) and differing.isdisjoint(self.explained.looked)


def is_same_path(one: Joined, other: Joined) -> bool:
    """Whether the very same steps are said and shown, and the same of them."""
    return one is other or (
        one.steps is other.steps
        and one.shown is other.shown
        and (one.unchecked, one.excluded, one.wraps) == (other.unchecked, other.excluded, other.wraps)
    )
