"""What the pointer variables of a function hold at a location, and the blocks that it knows of.

A value is written as a text: `null`; `fixed`, a pointer to a variable, a function or a string literal; `variable`, one to a
variable of the function itself; `library`, a pointer to
an object of the library's own that never ends (`errno`); `gone`, a pointer to what has ended; `at B`, a pointer to the start of
block B; `into B`, to anywhere inside; `front of B`, to anywhere inside, but in front of where a parameter leads: there, for all
that is known, the block of B can begin. Variables that hold anything else are left out.

A block is named by the number of the edge that allocates it, or by the parameter that it is passed in. Of the former the
function is the only owner, and its state is its kind, which says how it has to end: `heap`, `stream` or `directory`. Of the
latter the state is `passed`; `ended heap` and so on if the function ended it, `given` if a pointer to it may be elsewhere. A
parameter may be null, too, while its block is `passed`; `absent`: it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

NULL, FIXED, OWN_VARIABLE, GONE, KEPT, OTHER = "null", "fixed", "variable", "gone", "library", ""
RESULT = "return"
"""Stands for a variable that holds what the function returns."""
PASSED, GIVEN, ABSENT = "passed", "given", "absent"
ENDED = "ended "
_AT, _INTO, _FRONT = "at ", "into ", "front of "


class MemoryState(msgspec.Struct, frozen=True, array_like=True):
    """The values of variables, and the states of blocks, both in alphabetical order of the names."""

    holds: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, str], ...] = ()


def at(block: str) -> str:
    """A pointer to the start of a block."""
    return _AT + block


def into(block: str) -> str:
    """A pointer to anywhere in a block."""
    return _INTO + block


def front_of(block: str) -> str:
    """A pointer to anywhere in a block, in front of where the parameter leads that it is named by."""
    return _FRONT + block


def block_of(value: str) -> str | None:
    """The block that a value leads to, if it is one that the function knows."""
    for word in (_AT, _INTO, _FRONT):
        if value.startswith(word):
            return value[len(word) :]
    return None


def is_start(value: str) -> bool:
    """Whether a value leads to the start of its block."""
    return value.startswith(_AT)


def is_in_front(value: str) -> bool:
    """Whether a value leads to in front of where a parameter leads."""
    return value.startswith(_FRONT)


def is_own(block: str) -> bool:
    """Whether the function allocated the block. The names of parameters do not begin with a digit."""
    return block[:1].isdigit()


class Memory:
    """A memory state that changes."""

    def __init__(self, state: MemoryState) -> None:
        self._values = dict(state.holds)
        self.blocks = dict(state.blocks)

    def copy(self) -> Memory:
        """The same state, to be changed by itself."""
        made = Memory(MemoryState())
        made._values, made.blocks = dict(self._values), dict(self.blocks)
        return made

    def value(self, variable: str) -> str:
        """What a variable holds."""
        return self.current(self._values.get(variable, OTHER))

    def current(self, value: str) -> str:
        """A value as it is now: a pointer to a block that the function does not know any more is any other value."""
        block = block_of(value)
        is_known = block is None or (is_own(block) and block in self.blocks) or self.blocks.get(block) == PASSED
        return value if is_known else OTHER

    def hold(self, variable: str, value: str) -> None:
        """Gives a variable a value."""
        if value == OTHER:
            self._values.pop(variable, None)
        else:
            self._values[variable] = value

    def holders(self, block: str) -> Iterable[str]:
        """The variables that hold a pointer to a block."""
        return [name for name, value in self._values.items() if block_of(value) == block]

    def replace(self, block: str, value: str) -> None:
        """All pointers to a block become another value."""
        for name in self.holders(block):
            self.hold(name, value)

    def be_null(self, block: str) -> None:
        """The parameter that would lead to a block is null. A pointer that was moved from there leads anywhere."""
        for name in self.holders(block):
            self.hold(name, NULL if is_start(self._values[name]) else OTHER)
        self.blocks[block] = ABSENT

    def clear(self) -> None:
        """No variable holds anything."""
        self._values = {}

    def state(self, read_later: Collection[str]) -> MemoryState:
        """The state, without what variables hold that nobody reads later, unless it leads to an own block."""
        kept = {
            name: value
            for name, value in self._values.items()
            if name in read_later or ((block := block_of(value)) is not None and is_own(block) and not name.startswith("$"))
        }
        return MemoryState(tuple(sorted(kept.items())), tuple(sorted(self.blocks.items())))
