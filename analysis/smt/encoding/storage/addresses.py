"""Where objects are: each has an address of its own, a number, so that pointers to known objects are constants.

Objects are laid out in slots far apart, so that a pointer that is a known address plus an unknown offset still tells its object.
Which number an object's address is, no program may rely on (C11 6.5.8p5, 6.3.2.3p6): that it is this one is noted as an
assumption where the number itself matters. Objects with static storage come first, then those of the path in the order of their
birth, and above all of them memory that the path did not make.
"""

from __future__ import annotations

from analysis.model.c_types import DataModel


class Addresses:
    """Holds the addresses given so far, in mutable tables; `copy` is for a fork."""

    def __init__(self, model: DataModel) -> None:
        wide = model.pointer_bits == 64
        self.slot = 1 << (32 if wide else 16)
        self.outside = 1 << (model.pointer_bits - 1)
        self._unknown_size = (1 << 36) if wide else (1 << 24)
        self._first_path_slot = 1 << (20 if wide else 12)
        self._next = {True: 16, False: self._first_path_slot}
        self._bases: dict[int, int] = {}
        self._objects: dict[int, int] = {}

    def copy(self) -> Addresses:
        """An independent copy."""
        other = object.__new__(Addresses)
        other.slot, other.outside, other._unknown_size = self.slot, self.outside, self._unknown_size
        other._first_path_slot = self._first_path_slot
        other._next, other._bases, other._objects = dict(self._next), dict(self._bases), dict(self._objects)
        return other

    def base(self, region: int, size: int | None, is_static: bool) -> int | None:
        """The address of an object of a size in bytes (None: not known); None when there is no room left for it."""
        known = self._bases.get(region)
        if known is not None:
            return known
        reserved = self._unknown_size if size is None else size
        count = -(-(reserved + self.slot // 2) // self.slot)
        first = self._next[is_static]
        end = self._first_path_slot if is_static else self.outside // self.slot
        if first + count > end:
            return None
        self._next[is_static] = first + count
        for number in range(first, first + count):
            self._objects[number] = region
        self._bases[region] = first * self.slot + self.slot // 4
        return self._bases[region]

    def known_base(self, region: int) -> int | None:
        """The address of an object, if it was asked for before."""
        return self._bases.get(region)

    def region(self, address: int) -> int | None:
        """The object that an address belongs to, also when it is a little outside of it."""
        return self._objects.get(address // self.slot)

    def reserved(self, size: int | None) -> int:
        """The bytes that are kept for an object."""
        return self._unknown_size if size is None else size

    @property
    def first(self) -> int:
        """The lowest address that an object can have."""
        return 16 * self.slot

    @property
    def static_end(self) -> int:
        """No object with static storage has an address as high as this."""
        return self._first_path_slot * self.slot

    @property
    def end(self) -> int:
        """No object has an address as high as this so far."""
        return self._next[False] * self.slot
