"""Writes to memory, for the value domains: of scalars and of aggregates, wherever they are, with all that they can make unknown.

A write that may reach several objects forgets what all of them hold (a sound havoc): a write through an unknown pointer reaches
every object whose address is taken. Accesses are assumed to stay inside the variable that they begin in, as C11 6.5.6p8 demands.
"""

from __future__ import annotations

from analysis.cfa.bit_layout import BitLayout
from analysis.cpa.stores.evaluate import Algebra, Place, Work
from analysis.cpa.stores.scalar_values import Value, bits_of
from analysis.cpa.stores.store_memory import UNKNOWN_CONTENTS, ZERO_CONTENTS, Contents, Store
from analysis.cpa.stores.variables import Variables
from analysis.model.c_types import Type

LEAVES = 64
"""A record or array with more scalar members than this is copied as unknown, unless it is a whole variable."""


class Writer:
    """Writes to the stores of one program."""

    def __init__(self, variables: Variables, algebra: Algebra) -> None:
        self.variables = variables
        self._symbolic_objects = algebra.symbolic_objects
        self._taken: dict[str, bool] = {}
        self._bits = BitLayout.of(variables.program, variables.layout.model)

    def write(self, work: Work, place: Place, width: int, value: Value) -> None:
        """Writes a cell of this width, wherever it is."""
        if place is None:
            self.forget_reachable(work)
            return
        root, bit = place
        self.forget_aliases(work, root)
        if bit is None:
            work.store = work.store.set(root, None)
            return
        type_ = self.variables.type_of(root)
        if type_ is not None:
            whole = bits_of(type_, self.variables.pointer_bits)
            if whole is not None:
                work.store = work.store.set(root, value if whole == width and bit == 0 else None)
                return
        found = work.store.map.get(root)
        contents: Contents = found if type(found) is Contents else UNKNOWN_CONTENTS
        work.store = work.store.set(root, contents.set(bit, width, value))

    def forget_aliases(self, work: Work, root: str) -> None:
        """Before a write to an object: what symbolic pointers point to may be this object, if its address is taken; and the
        object may be any of these, if it is itself what a symbolic pointer points to."""
        if not self._symbolic_objects or not self.is_taken(root):
            return
        if root[0] == "*":
            work.store = work.store.without([other for other in work.store.map if other != root and self.is_taken(other)])
        else:
            work.store = work.store.without([other for other in work.store.map if other[0] == "*"])

    def forget_reachable(self, work: Work) -> None:
        """What a write through an unknown pointer leaves: all objects whose address is taken are unknown."""
        work.store = work.store.without([root for root in work.store.map if self.is_taken(root)])

    def is_taken(self, root: str) -> bool:
        """`Variables.is_taken`, remembered."""
        found = self._taken.get(root)
        if found is None:
            found = self._taken[root] = self.variables.is_taken(root)
        return found

    def copy(self, work: Work, into: Place, source: Place, type_: Type, is_zero: bool) -> None:
        """Fills an aggregate at `into` with zeros, with a copy of the one at `source`, or, without either, with any values."""
        if into is None or into[1] is None:
            self.write(work, into, 8, None)
            return
        root, bit = into[0], into[1]
        before = work.store
        self.forget_aliases(work, root)
        size = self.variables.layout.size(type_)
        whole = bit == 0 and size is not None and self.variables.size_of(root) == size
        if whole and is_zero:
            work.store = work.store.set(root, ZERO_CONTENTS)
        elif whole and source is not None and source[1] == 0 and self.variables.size_of(source[0]) == size:
            work.store = work.store.set(root, before.map.get(source[0]))
        else:
            self._copy_leaves(work, before, (root, bit), source, type_, is_zero)

    def _copy_leaves(self, work: Work, before: Store, into: tuple[str, int], source: Place, type_: Type, is_zero: bool) -> None:
        root, bit = into
        leaves = self._bits.leaves(type_, "none")
        size = self.variables.layout.size(type_)
        found = work.store.map.get(root)
        if leaves is None or len(leaves) > LEAVES or size is None or (found is not None and type(found) is not Contents):
            work.store = work.store.set(root, None)
            return
        load, bits = self.variables.load, self.variables.pointer_bits
        values = []
        for offset, leaf in leaves:
            width = bits_of(leaf, bits) or 8
            value: Value = 0 if is_zero else None
            if source is not None and source[1] is not None:
                value = load(before, source[0], source[1] + offset, width)
            values.append((offset, width, value))
        contents: Contents = UNKNOWN_CONTENTS if found is None else found
        contents = contents.forget(bit, size * 8)
        for offset, width, value in values:
            contents = contents.set(bit + offset, width, value)
        work.store = work.store.set(root, contents)
