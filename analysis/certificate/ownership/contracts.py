"""What a function does with the blocks that it is passed, and what it returns: what callers may rely on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from analysis.certificate.ownership.memory_state import (
    ABSENT,
    ENDED,
    FIXED,
    GIVEN,
    OTHER,
    OWN_VARIABLE,
    RESULT,
    Memory,
    MemoryState,
    at,
    block_of,
    into,
    is_own,
    is_start,
)
from analysis.certificate.ownership.obligations import INSIDE, LEAKS, Obligations
from analysis.certificate.ownership.tracked_variables import tracked
from analysis.cfa.graph import Cfa

NEW = "new "
NEW_INSIDE = "inside new "
_MOST_OUTCOMES = 12


class Outcome(NamedTuple):
    """One way in which a function can return: the numbers of the arguments whose blocks it ended, each with the kind of block;
    of those that it may have kept; of those that were null; and its result: a value as in memory states, `new K` for a new block
    of kind K that only the result leads to, `inside new K` if it leads to somewhere in that. The block of an argument is named
    by its number."""

    ended: frozenset[tuple[int, str]]
    given: frozenset[int]
    absent: frozenset[int]
    result: str


class Contract(NamedTuple):
    """`followed`: the numbers of the parameters that outcomes speak of, if each is null or leads to a block that no other
    argument leads to. `touched`: those of them that the function may end or let others have, on some path; of the others, two
    may lead to one block. `contents`: those whose blocks may lose what they lead to, each with the rule that matters.
    `hands_over`: rules for which callers may get blocks in other ways, and lose them, each with the reason; `may_hand_over`:
    the same, unless conditions are met that are seen from all of the program. `leaves`: why control may go on elsewhere, by a
    jump; else empty. `misuses`: why it may use a block wrongly that it is passed; else empty. `ends_unknown`: it may end what it
    finds in memory. `ends_others`: it may end more than its own blocks and those of which outcomes speak, or leave a pointer to
    what has ended where it is not followed.
    """

    outcomes: frozenset[Outcome]
    followed: frozenset[int]
    contents: frozenset[tuple[int, str]]
    touched: frozenset[int]
    hands_over: tuple[tuple[str, str], ...]
    may_hand_over: tuple[tuple[str, str], ...]
    leaves: str
    misuses: str
    ends_unknown: bool
    ends_others: bool

    def says_the_same(self, other: Contract | None) -> bool:
        """Whether another contract lets callers know the same; reasons aside."""
        return other is not None and self.facts() == other.facts()

    def in_group(self) -> Contract:
        """The contract as functions see it that the function itself may call: what it touches may follow from what they do."""
        return self._replace(touched=self.followed)

    def facts(self) -> tuple[object, ...]:
        """What it lets callers know; reasons aside."""
        handed, may_be_handed = (tuple(rule for rule, _ in rows) for rows in (self.hands_over, self.may_hand_over))
        return *self[:4], handed, may_be_handed, bool(self.leaves), bool(self.misuses), self.ends_unknown, self.ends_others


def contract_of(cfa: Cfa, at_exit: Iterable[MemoryState], found: Obligations, *, is_recursive: bool = False) -> Contract | None:
    """The contract that follows from the states in which a function returns; None if there is none. Where there are too many
    outcomes, it says less. Not for a function that may call itself: what follows could be fewer outcomes, from these more, and so
    on."""
    numbers = {one.name: number for number, one in enumerate(cfa.parameters) if one.name in tracked(cfa)}
    outcomes = frozenset(_outcome(Memory(state), numbers) for state in at_exit)
    if len(outcomes) > _MOST_OUTCOMES and not is_recursive:
        outcomes = _fewer(outcomes)
    if found.broken or len(outcomes) > _MOST_OUTCOMES:
        return None
    contents = frozenset((numbers[name], rule) for name, rule in found.contents)
    hands_over = tuple(sorted(found.handed.items()))
    unless = {rule: next(iter(found.unless[rule].values())).rpartition(INSIDE)[2] for rule in LEAKS & found.unless.keys()}
    may_hand_over = tuple(sorted(unless.items()))
    touched = frozenset(numbers[name] for name in found.touched)
    return Contract(
        outcomes,
        frozenset(numbers.values()),
        contents,
        touched,
        hands_over,
        may_hand_over,
        found.leaves,
        found.misuses,
        found.ends_unknown,
        found.ends_others,
    )


def _fewer(outcomes: Iterable[Outcome]) -> frozenset[Outcome]:
    """Fewer outcomes, which say less: those are one that end the same and return the same block, new or an argument's, or no
    block that is followed. It may have kept what any of them may have kept."""
    merged: dict[tuple[frozenset[tuple[int, str]], str], Outcome] = {}
    for one in outcomes:
        leads = one.result.startswith((NEW, NEW_INSIDE)) or block_of(one.result) is not None
        key = one.ended, one.result if leads else OTHER
        other = merged.get(key, one)
        result = one.result if one.result == other.result else OTHER
        merged[key] = Outcome(one.ended, one.given | other.given, one.absent & other.absent, result)
    return frozenset(merged.values())


def _outcome(memory: Memory, numbers: dict[str, int]) -> Outcome:
    states = [(numbers[block], state) for block, state in memory.blocks.items() if block in numbers]
    ended = frozenset((number, state.removeprefix(ENDED)) for number, state in states if state.startswith(ENDED))
    given = frozenset(number for number, state in states if state == GIVEN)
    absent = frozenset(number for number, state in states if state == ABSENT)
    result = memory.value(RESULT)
    result = FIXED if result == OWN_VARIABLE else result  # it is none of the caller's
    block = block_of(result)
    if block is not None and is_own(block):
        result = (NEW if is_start(result) else NEW_INSIDE) + memory.blocks[block]
    elif block is not None:
        passed = str(numbers[block]) if block in numbers else None
        result = OTHER if passed is None else at(passed) if is_start(result) else into(passed)
    return Outcome(ended, given, absent, result)
