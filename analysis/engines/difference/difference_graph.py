"""Difference graphs ([DIFFDP] Definition 4), over the functions of a program.

A path of the graph stands for paths of the new program. Every path with a regression bug has a prefix that the graph takes to a
regression bug indicator. Where the paper has one graph for a program without calls, here each function has one for each way in
which it is entered (`Context`): with what is affected then. A call that both versions make leads into the graphs of what it
calls, and behind the call once these have come to the end of their function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from analysis.engines.difference.dependencies import Affected


class Context(NamedTuple):
    """A function of the new version by linkage name, entered with these objects affected."""

    function: str
    affected: Affected


class Node(NamedTuple):
    """A location of the new version, aligned with location `partner` of the old one; None: a regression bug indicator."""

    location: int
    partner: int | None

    @property
    def is_indicator(self) -> bool:
        """Whether paths that come here have to be looked at."""
        return self.partner is None


class Move(NamedTuple):
    """Where an edge leads, and what it calls on the way."""

    target: Node
    calls: tuple[Context, ...] = ()


class DifferenceGraph(msgspec.Struct, frozen=True):
    """The graph of one function. `moves` has, for each node, where the edges of the new function lead, by their ids; `exit` is
    the location where the function has ended."""

    initial: Node
    exit: int
    moves: Mapping[Node, Mapping[int, Move]]


class ProgramGraph(msgspec.Struct, frozen=True):
    """The graphs of a program by context. `entry` is where its paths begin."""

    entry: Context
    graphs: Mapping[Context, DifferenceGraph]


def unaligned(entry: Context) -> ProgramGraph:
    """The graph in which no path is aligned: an indicator."""
    return ProgramGraph(entry, {entry: DifferenceGraph(Node(-1, None), -1, {})})
