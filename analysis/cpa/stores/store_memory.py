"""Memory of the value domains: a persistent map from objects to what they hold.

An object is named by its *root*: `@g` for a global, `f#2:x` for the variable x of the activation of f that is the second open
call below the entry (the entry function is number 0), `new f:12#1` for the first block that was allocated at edge 12 of f on this
path. A scalar variable's root maps to its value. Other roots map to `Contents`: cells by where they
begin and how wide they are, in bits. What is not in a map is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from immutables import Map

from analysis.cpa.stores.scalar_values import Value

WIDTH_BITS = 8  # a cell's key is the number of its first bit, shifted, plus its width
WIDTH_MASK = (1 << WIDTH_BITS) - 1


def cell_range(key: int) -> tuple[int, int]:
    """The first bit of a cell, and the first one after it."""
    bit = key >> WIDTH_BITS
    return bit, bit + (key & WIDTH_MASK)


class Store(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Values and contents by root: a persistent map with a hash that is kept up to date, so that hashing
    costs nothing and unequal stores are distinguished at once. `weight` counts what is known: less is known
    in a store that is greater in the order of `covers`."""

    map: Map[str, Any] = Map()
    hash: int = 0
    weight: int = 0

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Store) and self.hash == other.hash and self.map == other.map)

    def __len__(self) -> int:
        return len(self.map)

    def __repr__(self) -> str:
        return f"Store({dict(self.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _store_of, (self.items(),)  # strings have other hashes in another process

    def items(self) -> list[tuple[str, Any]]:
        """The entries in the order of their roots."""
        return sorted(self.map.items(), key=lambda item: item[0])

    def set(self, root: str, value: Any) -> Store:
        """The store with another value or other contents of a root; None or empty contents: not known any more."""
        old = self.map.get(root)
        if old is value or (old == value and type(old) is type(value)):
            return self
        hash_, weight = self.hash, self.weight
        if old is not None:
            hash_ ^= hash((root, old))
            weight -= old.weight if type(old) is Contents else 1
        if value is None or (type(value) is Contents and value.knows_nothing):
            return self if old is None else Store(self.map.delete(root), hash_, weight)
        weight += value.weight if type(value) is Contents else 1
        return Store(self.map.set(root, value), hash_ ^ hash((root, value)), weight)

    def without(self, roots: Iterable[str]) -> Store:
        """The store without these roots."""
        found = self
        for root in roots:
            if root in self.map:
                found = found.set(root, None)
        return found


def _store_of(items: list[tuple[str, Any]]) -> Store:
    store = EMPTY_STORE
    for root, value in items:
        store = store.set(root, value)
    return store


class Contents(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The cells of one object. `zero`: all bits that are in no cell are 0 (then what is unknown is in the map, as None);
    otherwise they are unknown. A cell whose value is known overlaps no other but unknown ones.

    `stride` is the width of all cells, if each begins at a multiple of it; 0 if there is none, -1 if they differ.
    """

    map: Map[int, Any] = Map()
    hash: int = 0
    weight: int = 0
    stride: int = 0
    zero: bool = False

    def __hash__(self) -> int:
        return self.hash ^ 1 if self.zero else self.hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Contents) and self.zero == other.zero and self.hash == other.hash and self.map == other.map
        )

    def __repr__(self) -> str:
        cells = ", ".join(f"{key >> WIDTH_BITS}+{key & 255}: {value!r}" for key, value in sorted(self.map.items()))
        return f"Contents({{{cells}}}{', zero' if self.zero else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _contents_of, (sorted(self.map.items()), self.zero)

    @property
    def knows_nothing(self) -> bool:
        """Whether all of it is unknown."""
        return not self.zero and not self.map

    def get(self, bit: int, width: int) -> Value:
        """What a cell of this extent holds."""
        key = bit << WIDTH_BITS | width
        if key in self.map:
            found: Value = self.map[key]
            return found
        return 0 if self.zero and not self.overlapping(bit, width) else None

    def set(self, bit: int, width: int, value: Value) -> Contents:
        """The contents after a cell was written. What overlapped it becomes unknown."""
        found = self
        overlapped = self.overlapping(bit, width)
        for key in overlapped:
            found = found._put(key, None)
        if value == 0 and type(value) is int and self.zero and not overlapped:
            return found._without(bit << WIDTH_BITS | width)
        return found._put(bit << WIDTH_BITS | width, value)

    def forget(self, bit: int, width: int) -> Contents:
        """The contents with this extent unknown, and what overlaps it."""
        found = self
        if width == 0:  # of a structure without members, a GNU extension
            return self
        for key in self.overlapping(bit, width):
            found = found._put(key, None)
        if width >= 1 << WIDTH_BITS:
            return Contents() if self.zero else found
        return found._put(bit << WIDTH_BITS | width, None)

    def _put(self, key: int, value: Value) -> Contents:
        if value is None and not self.zero:
            return self._without(key)
        width = key & WIDTH_MASK
        map_, hash_, weight = self.map, self.hash, self.weight
        if key in map_:
            old = map_[key]
            if old is value or (old == value and type(old) is type(value)):
                return self
            hash_ ^= hash((key, old))
            weight -= self._weigh(old)
        stride = self.stride
        if stride != width or (key >> WIDTH_BITS) % width:
            stride = width if not map_ and not (key >> WIDTH_BITS) % width else -1
        return Contents(map_.set(key, value), hash_ ^ hash((key, value)), weight + self._weigh(value), stride, self.zero)

    def _without(self, key: int) -> Contents:
        if key not in self.map:
            return self
        old = self.map[key]
        return Contents(
            self.map.delete(key), self.hash ^ hash((key, old)), self.weight - self._weigh(old), self.stride, self.zero
        )

    def _weigh(self, value: Value) -> int:
        if self.zero:
            return -1 if value is None else 0
        return 1

    def overlapping(self, bit: int, width: int) -> list[int]:
        """The keys of the cells that overlap this extent, the cell of this very extent left out."""
        if self.stride == width and not bit % width:
            return []
        own, end = bit << WIDTH_BITS | width, bit + width
        found = []
        for key in self.map:
            first, last = cell_range(key)
            if key != own and first < end and bit < last:
                found.append(key)
        return found


def _contents_of(items: list[tuple[int, Value]], zero: bool) -> Contents:
    contents = ZERO_CONTENTS if zero else UNKNOWN_CONTENTS
    for key, value in items:
        contents = contents._put(key, value)
    return contents


EMPTY_STORE = Store()
UNKNOWN_CONTENTS = Contents()
ZERO_CONTENTS = Contents(weight=1 << 20, zero=True)


def covers(other: Store, store: Store) -> bool:
    """Whether all that `other` knows holds in `store`, too: then `other` stands for every memory that `store` stands for.
    Contents are compared last: most stores of one location differ in a variable, which is found at once."""
    if other is store:
        return True
    mine, unequal = store.map, list[tuple[Contents, Contents]]()
    for root, wanted in other.map.items():
        value = mine.get(root)
        if value is wanted:
            continue
        if type(wanted) is Contents:
            if type(value) is not Contents:
                return False
            unequal.append((wanted, value))
        elif value != wanted or type(value) is Contents:
            return False
    return all(_covers_contents(wanted, value) for wanted, value in unequal)


def _covers_contents(other: Contents, contents: Contents) -> bool:
    if other.zero and not contents.zero:
        return False
    for key, wanted in other.map.items():
        if wanted is not None and contents.get(key >> WIDTH_BITS, key & WIDTH_MASK) != wanted:
            return False
    if not other.zero:
        return True
    for key, value in contents.map.items():
        expected = other.get(key >> WIDTH_BITS, key & WIDTH_MASK)
        if (expected is None or expected != value) and not leaves_open(other, key):
            return False
    return True


def leaves_open(contents: Contents, key: int) -> bool:
    """Whether one unknown cell has all of this extent in it."""
    first, end = cell_range(key)
    for cell, value in contents.map.items():
        if value is None:
            start, stop = cell_range(cell)
            if start <= first and end <= stop:
                return True
    return False


def join(store: Store, other: Store) -> Store:
    """The least store that covers both: what is known in both alike."""
    found = store
    for root, value in store.map.items():
        there = other.map.get(root)
        if there is value:
            continue
        if type(value) is Contents and type(there) is Contents:
            found = found.set(root, _join_contents(value, there))
        elif there is None or type(there) is not type(value) or there != value:
            found = found.set(root, None)
    return found


def _join_contents(contents: Contents, other: Contents) -> Contents:
    found = ZERO_CONTENTS if contents.zero and other.zero else UNKNOWN_CONTENTS
    for key in sorted({*contents.map, *other.map}):
        bit, width = key >> WIDTH_BITS, key & WIDTH_MASK
        value, there = contents.get(bit, width), other.get(bit, width)
        found = found._put(key, value if value == there and type(value) is type(there) else None)
    return found
