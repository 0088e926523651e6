"""What is kept of one function's uses of members of structures (`member_uses` reads them, `owned_members` puts them together)."""

from __future__ import annotations

import msgspec

from analysis.engines.automaton.functions.access_paths import Path

Member = tuple[str, str]
"""A member of a record, by the record's key and its name."""
Source = str
"""Where a value comes from: MADE, OTHER, or the function of the program whose result it is."""
MADE: Source = "<made>"
OTHER: Source = "<other>"
Passed = tuple[str, int]
"""A parameter of a function of the program, by the function's name and its position."""


class Release(msgspec.Struct, frozen=True):
    """A call that is passed what is in a part of a parameter's object. `root` leads to that object, the one of a record `key`;
    `to`: it is passed to functions of the program there, and not freed by one of the library."""

    edge: int
    root: Path
    key: str
    to: frozenset[Passed]


class Uses(msgspec.Struct, frozen=True):
    """What a function does.

    `stored`: where the values come from that it stores in members, null left out; `given` are all members that it stores in;
    `returned`: where its results come from. `freed` members, and members `passed` to functions of the program. `shared` are
    members of which a value is elsewhere, too, as far as this function goes. `held_by`: functions of the program that are passed
    what is stored in a member, too, or, with None, what is returned.

    Of objects, by the keys of their records: it `copied` them as a whole, or reaches their bytes; it `ends` those that variables
    lead to; `lost` are those of which it frees an object that is no variable's, or hides one behind another type, `unseen` those
    of which code that is not seen may free parts, `placed` those that are no blocks by themselves, `handed` those that it passes
    to functions of the program for parameters of other types, `new` those that it allocates. `releases` are calls that free
    parts of its parameters' objects. `resizes`: the edges at which it resizes what a member holds, and stores the result there.

    `frees` are the positions of its own parameters that it frees, `hands_on` those that it passes to functions of the program.
    """

    stored: frozenset[tuple[Member, Source]] = frozenset()
    given: frozenset[Member] = frozenset()
    returned: frozenset[Source] = frozenset()
    held_by: frozenset[tuple[Member | None, Passed]] = frozenset()
    freed: frozenset[Member] = frozenset()
    passed: frozenset[tuple[Member, Passed]] = frozenset()
    shared: frozenset[Member] = frozenset()
    copied: frozenset[str] = frozenset()
    ends: frozenset[tuple[str, str]] = frozenset()
    lost: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()
    placed: frozenset[str] = frozenset()
    handed: frozenset[tuple[str, Passed]] = frozenset()
    new: frozenset[str] = frozenset()
    releases: frozenset[Release] = frozenset()
    frees: frozenset[int] = frozenset()
    hands_on: frozenset[tuple[int, Passed]] = frozenset()
    resizes: frozenset[tuple[int, Path, Member]] = frozenset()


NO_USES = Uses()
