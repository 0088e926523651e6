"""What a closed set of a function shows of each rule, and why it does not show more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from analysis.model import ir

FREES = frozenset(("double-free", "invalid-free"))
USES = frozenset(("use-after-free", "use-after-close"))
LEAKS = frozenset(("memory-leak", "resource-leak"))
RULES = FREES | USES | LEAKS
"""The rules that closed sets prove."""
LIVE = "live"
"""The requirement that a parameter is null, or leads to what has not ended. The others, but `INSIDE_HEAP` and those of
`HOLDS_NONE`, are kinds of blocks: null, or the start of one, which nobody else ends."""
INSIDE_HEAP = "inside heap"
"""The requirement that a parameter leads into a block of memory that nobody else ends, as far behind its start as the function
takes it to be: where it frees what lies in front of what it is passed."""
HOLDS_NONE = {"memory-leak": "no block", "resource-leak": "no file"}
"""The requirement of each rule about leaks that a parameter is null, or leads to an object that may be overwritten: it holds no
pointer to what has to be ended, nor to what leads there, and no number of an open file."""
INSIDE = "() is called, and may keep, free or lose memory or a file: "


class Passed(NamedTuple):
    """What is passed for a parameter. `what`: `null`, `fixed`, `variable`, the kind of an own block, `parameter` for the block of
    the caller's own parameter `name`; `other` for all else. `is_start`: it leads to the start of the block."""

    what: str
    name: str = ""
    is_start: bool = True


class Condition(NamedTuple):
    """What must be true of the whole program, so that a rule holds at a place. `what`: `never ends`: the program never ends what
    pointer `expr` leads to. `holds none`: what lvalue `expr` holds leads to no block, or no stream, that could be lost with it.
    `below`: function `callee` loses nothing. `through`: no function does that is called through pointer `expr`, and none
    returns a new block."""

    what: Literal["never ends", "holds none", "below", "through"]
    expr: ir.Expr | None = None
    callee: str = ""


class Obligations:
    """`refused`: why a rule is not proved, by rule; `unless`: why it is not, unless conditions are met that are seen from all
    of the program (`whole_conditions`), by rule; `first`: the first reason of both. `handed`: why callers may get blocks
    unseen, by the rule about leaks that matters. `returns_new`: whether they may get one as its result. `touched`: the
    parameters whose blocks it may end, or let others have. `leaves`: why control may not come back to callers. `misuses`: why
    the function may use a block wrongly, whoever calls it. `met`: the rules that something in the function could violate, and
    does not. `contents`: where the blocks of parameters are changed so that what they lead to could be lost, by parameter and
    rule; `lost`: the conditions under which nothing is lost there, by rule. `requires`: where a rule needs callers to keep a
    requirement (`kept_by_callers`), by rule, parameter and what is needed. `passed`: what is passed to functions of the
    program, and where, by function and number of the parameter. `hidden`: why not all of that is seen. `ends_unknown`: whether it
    ends what it finds in memory. `ending`: the edges at which something may be ended that is not the function's own, and those of
    `stale`, at which a pointer may lead to what has ended; `ends_others`: whether callers may not know of that. `used`: the edges
    at which something is used that is not its own, by rule; `used_unknown`: those where no parameter leads to it. `broken`: why
    the function is not followed."""

    def __init__(self) -> None:
        self.refused: dict[str, str] = {}
        self.first: dict[str, str] = {}
        self.handed: dict[str, str] = {}
        self.unless: dict[str, dict[Condition, str]] = {}
        self.leaves = self.misuses = ""
        self.returns_new = self.ends_unknown = False
        self.touched: set[str] = set()
        self.met: set[str] = set()
        self.contents: dict[tuple[str, str], str] = {}
        self.lost: dict[str, dict[Condition, str]] = {}
        self.requires: dict[tuple[str, str, str], str] = {}
        self.passed: dict[tuple[str, int], dict[Passed, str]] = {}
        self.hidden = self.broken = ""
        self.ends_others = False
        self.ending: set[int] = set()
        self.stale: set[int] = set()
        self.used: dict[str, set[int]] = {}
        self.used_unknown: dict[str, set[int]] = {}

    def refuse(self, rules: Iterable[str], why: str) -> None:
        """Notes why rules are not proved; the first reason counts. Where it is about leaks, blocks may go to callers, too."""
        names = frozenset(rules)
        self.lose(names, why)
        for rule in names & LEAKS:
            self.handed.setdefault(rule, why.rpartition(INSIDE)[2])

    def refuse_unless(self, rules: Iterable[str], why: str, condition: Condition) -> None:
        """Notes why rules are not proved unless a condition is met. Where it is about leaks, blocks may go to callers, too."""
        for rule in rules:
            self.unless.setdefault(rule, {}).setdefault(condition, why)
            self.first.setdefault(rule, why)

    def lose(self, rules: Iterable[str], why: str) -> None:
        """The same, where the function loses a block by itself."""
        for rule in rules:
            self.refused.setdefault(rule, why)
            self.first.setdefault(rule, why)
