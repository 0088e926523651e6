"""What changed between two revisions of a program and its automaton, as the incremental algorithms take it ([ORION] section 3).

`Changes` is the contract between the code that computes it and IncrFwd and IncrBack; the algorithms do not look for
changes that it does not name. Naming too much costs time and changes no result.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from analysis.engines.automaton.solver.full import Entry
from analysis.model.report import RecheckReason

Scope = frozenset[str]
NO_EDGES: frozenset[int] = frozenset()


class EdgeChanges(msgspec.Struct, frozen=True):
    """The edges of one function that changed, by id.

    `deleted` edges were there before, `added` ones are there now; an edge that now leaves another location is both. A
    `modified` edge leaves the same location before and after, but its target or an answer of Delta on it may differ: `quiet`,
    `step`, `call`, `leave`, or whether `outgoing` has it and as a call. Of a modified edge with a scope only the answers for
    states that depend on one of its names can (`Delta.depends`).
    """

    deleted: frozenset[int] = NO_EDGES
    added: frozenset[int] = NO_EDGES
    modified: frozenset[int] = NO_EDGES
    scopes: Mapping[int, Scope] = {}


class Changes(msgspec.Struct, frozen=True):
    """Contract: for every edge that is not named, of a function that is not named, the edge and all answers of the new Delta on
    it are those of the old one, for all states. States keep their numbers, and `rejecting` keeps its answers.

    `functions` are the changed edges, by function. `removed` functions are there no more and `added` ones are new; a function
    whose entry or exit location changed is both, and nothing of its inside is kept (its call sites are). `initial` are all
    entry states of the program, when they changed.

    Two answers depend on more than their edge. The code that computes changes must allow for that:

    - A derivation over an edge e can stand for a stretch of edges e, e2, e3... (`Delta.quiet`). When one of these changes, or a
      path joins or leaves the stretch, the answer on e differs, and e is modified.
    - `call` and `leave` can depend on the callee: whether it has a body, can return, or reads a variable. When that changes,
      the call edges of all callers concerned are modified. So they are when the callee is removed or renamed, or gets a body.
    """

    functions: dict[str, EdgeChanges] = {}
    removed: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    initial: tuple[Entry, ...] | None = None


class Repaired(msgspec.Struct):
    """The work of one repair, and what it did.

    `checked` are the functions whose derivations were checked (Fig. 4), in order, with the numbers of configurations and
    derivations that were looked at. `compared` counts pairs of a configuration and a modified edge for which Delta was asked
    whether the recorded derivations still hold. What was added was computed by asking Delta; all else in the graph was reused.
    `reasons` are the functions that something outside them concerned, with the first such thing: `summary` and a callee that lost
    or got a summary, `argument` and a caller that enters them in a state that they had not, or `start`.
    `changed` are the functions whose graphs are not what they were: what was found out about others' still holds. `recalled` are
    those that got a call site, or that the program starts in now, or did before. `fewer_sites` are the entry states that lost
    call sites, of functions that were not checked.
    """

    checked: list[str] = msgspec.field(default_factory=list)
    configurations_checked: int = 0
    derivations_checked: int = 0
    compared: int = 0
    configurations_removed: int = 0
    derivations_removed: int = 0
    configurations_added: int = 0
    derivations_added: int = 0
    configurations_reused: int = 0
    derivations_reused: int = 0
    changed: set[str] = msgspec.field(default_factory=set)
    recalled: set[str] = msgspec.field(default_factory=set)
    fewer_sites: set[Entry] = msgspec.field(default_factory=set)
    reasons: dict[str, tuple[RecheckReason, str]] = msgspec.field(default_factory=dict)
