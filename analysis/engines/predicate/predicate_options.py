"""How predicate analysis looks for a proof."""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.cfa.revisions.match import Align, by_order
from analysis.cpa.predicates.abstraction import Kind as AbstractionKind
from analysis.cpa.predicates.adjustable_blocks import BlockEnds
from analysis.engines.predicate.reuse.reusing import Reuse
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.solving.interpolation import METHODS, Method


class PredicateOptions(msgspec.Struct, frozen=True):
    """How to look for a proof. `seconds` of the clock for all, of which the share `clauses`, and a little before refinement, is
    for the program as Horn clauses (0: none); `states`: abstract states; `query_milliseconds` for one question; `recursion`:
    activations of one function that are followed, beyond which only summaries prove; `depth`: calls that may be open; `reuse`:
    what of an earlier proof is reused, if there is one; `scratch`: where that is not enough, all is looked for anew. If not, what
    is broken of the earlier proof is said instead; `align`: which edges of two revisions correspond; `revalidates`: an earlier
    annotation is tried as it is, before what a change impacts is taken out."""

    mode: Mode = "int"
    abstraction: AbstractionKind = "boolean"
    ends: BlockEnds = BlockEnds()
    restart: Literal["pivot", "full"] = "pivot"
    interpolation: tuple[Method, ...] = METHODS
    seconds: float = 10.0
    clauses: float = 0.4
    states: int = 50_000
    query_milliseconds: int = 2_000
    recursion: int = 1
    depth: int = 60
    reuse: Reuse = "annotations"
    scratch: bool = True
    align: Align = by_order
    revalidates: bool = True
