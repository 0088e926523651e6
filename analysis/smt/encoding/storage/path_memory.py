"""The memory of a path: objects with their contents, and everything else that pointers may point to.

A pointer whose object is known is resolved to it, by cases where it can be one of several. Any other pointer came from outside
the path: it points to memory there, or to an object that the outside may know: one that *escaped* before the pointer came to
be, or a global whose address is taken in the program. Memory outside is one large object, in which accesses are kept apart by
their types as far as C11 6.5p7 allows.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.bit_layout import BitLayout
from analysis.model import clock
from analysis.model.assumptions import BOUNDS, OUTSIDE_POINTERS, OWN_TYPES
from analysis.model.c_types import Integer, Pointer, Type
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.encoding.storage.addresses import Addresses
from analysis.smt.encoding.storage.bit_patterns import Patterns, unsigned
from analysis.smt.encoding.storage.content import ANY_TAG, Cell, Content, Fill, FillKind, Layer, Patch, Tag
from analysis.smt.encoding.storage.fills import Fills
from analysis.smt.encoding.storage.object_access import Objects
from analysis.smt.encoding.storage.origins import Origins
from analysis.smt.encoding.storage.regions import Alternatives, Region, RegionKind, Spot, can_hold
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, TRUE, and_, constant_of, distinct, eq, ite, not_, number, or_
from analysis.smt.logic.terms import Term, subterms

WRITES_CONSTANT = "a constant object may be written to"
_MOST_CASES = 256
_OUTSIDE = 0


class Memory:
    """Objects by number. `ledger` takes what accesses assume; `clock` is the step of the path."""

    def __init__(self, arithmetic: Integers | Bits, ledger: Ledger, layout: BitLayout) -> None:
        self.layout = layout
        self.regions: list[Region] = []
        self.clock = 0
        self._contents: dict[int, Content] = {}
        self._alive: dict[int, Term] = {}
        self._allocated: dict[int, Term] = {}
        self._constant: set[int] = set()
        self._escaped: dict[int, int] = {}
        self.statics_are_known = False  # whether the outside may point to objects with static storage
        self.freed_outside: list[tuple[Term, Term]] = []  # conditions and pointers
        self.given_outside: list[Term] = []  # pointers to blocks that the library allocated, or null
        self._generation = 0
        self.addresses = Addresses(arithmetic.model)
        self._origins = Origins(self.addresses.first)
        self._bind(arithmetic, ledger, Fills(arithmetic, ledger))
        self.new_region("memory", "outside", None, None, "unknown")

    def _bind(self, arithmetic: Integers | Bits, ledger: Ledger, fills: Fills) -> None:
        self._arithmetic = arithmetic
        self._ledger = ledger
        self._patterns = Patterns(arithmetic)
        self.fills = fills
        self.objects = Objects(arithmetic, ledger, fills)
        fills.on_pointer = self.constrain_outside
        self._pointer_type = unsigned(arithmetic.model.pointer_bits)

    def copy(self, arithmetic: Integers | Bits, ledger: Ledger) -> Memory:
        """An independent copy; contents are shared until one of the two changes them."""
        other = object.__new__(Memory)
        other.layout, other.clock, other._generation = self.layout, self.clock, self._generation
        other.regions = list(self.regions)
        other._alive, other._escaped = dict(self._alive), dict(self._escaped)
        other._allocated, other._constant = dict(self._allocated), set(self._constant)
        other.freed_outside = list(self.freed_outside)
        other.given_outside = list(self.given_outside)
        other.statics_are_known = self.statics_are_known
        other.addresses, other._origins = self.addresses.copy(), self._origins
        other._bind(arithmetic, ledger, self.fills.copy(arithmetic, ledger))
        other._contents = dict(self._contents)
        for content in self._contents.values():
            content.owner = None
        return other

    # -- objects ------------------------------------------------------------------------------------------------

    def new_region(
        self, name: str, kind: RegionKind, type_: Type | None, size: int | None, fill: FillKind, size_term: Term | None = None
    ) -> int:
        """A new object with a content of a kind; gives its number."""
        region = Region(len(self.regions), name, kind, type_, size, size_term)
        self.regions.append(region)
        self._contents[region.number] = Content(self, {}, self._fill(region, fill))
        return region.number

    def _fill(self, region: Region, kind: FillKind) -> Fill:
        self._generation += 1
        is_scalar = isinstance(region.type, Integer | Pointer)
        return Fill(kind, f"{region.name}@{self._generation}", self.clock, region.number, is_scalar=is_scalar)

    def refill(self, number_: int, kind: FillKind) -> None:
        """Replaces all that an object holds."""
        self._content(number_).push(self._fill(self.regions[number_], kind), None, None)

    def _content(self, number_: int) -> Content:
        """The content of an object, for changing it."""
        content = self._contents[number_]
        if content.owner is not self:
            content = self._contents[number_] = content.copy(self)
        return content

    def layer(self, number_: int) -> Layer:
        """The content of an object, for reading it."""
        return self._contents[number_].top()

    def address(self, number_: int) -> Term:
        """The address of an object."""
        region = self.regions[number_]
        base = self.addresses.base(number_, region.size, region.is_static)
        if base is None:
            return self.objects.open(self._pointer_type, "there are more objects than addresses to tell them apart")
        return number(base, self.fills.pointer_sort)

    def kill(self, number_: int, condition: Term) -> None:
        """Ends the life of an object, if a condition holds."""
        self._alive[number_] = and_(self.alive(number_), not_(condition))

    def alive(self, number_: int) -> Term:
        """The condition that an object has not ended yet."""
        return self._alive.get(number_, TRUE)

    def protect(self, number_: int) -> None:
        """Notes that an object is constant: writing to it from now on is undefined (C11 6.4.5p7, 6.7.3p6)."""
        self._constant.add(number_)

    def _writes(self, number_: int) -> None:
        if number_ in self._constant:
            self._ledger.approximate(WRITES_CONSTANT)

    def allocate(self, number_: int, condition: Term) -> None:
        """Notes that a block is there only if a condition holds."""
        self._allocated[number_] = condition

    def remaining(self) -> Term:
        """The condition that some block of the heap is there and was not freed."""
        return or_(*(and_(found, self.alive(number_)) for number_, found in self._allocated.items()))

    def size(self, number_: int) -> Term | None:
        """The size of an object in bytes, None when it is not known."""
        region = self.regions[number_]
        return region.size_term if region.size is None else self.fills.offset(region.size)

    def spot_at(self, number_: int) -> Spot:
        """The start of an object."""
        return self._spot(number_, 0, None)

    def is_known(self, number_: int) -> bool:
        """Whether the object can still be read."""
        return number_ in self._contents

    def copy_object(self, source: int, target: int) -> None:
        """Makes one object hold what another does; what is beyond its own end is never read."""
        self._contents[target] = self._contents[source].copy(self)

    def discard(self, number_: int) -> None:
        """Ends the life of a variable: for good if nothing can point to it."""
        if self.addresses.known_base(number_) is None:
            self._contents.pop(number_, None)
        self._alive[number_] = FALSE

    # -- what the outside knows ---------------------------------------------------------------------------------

    def expose(self, terms: Iterable[Term]) -> set[int]:
        """Notes that the outside gets to know values: the objects that they point to escape, with all that can be reached from
        them. Gives the numbers of all these objects."""
        waiting = list(terms)
        reached: set[int] = set()
        seen: set[Term] = set()
        while waiting:
            for part in self._origins.of(waiting.pop()):
                if part in seen or part.op != "value":
                    continue
                seen.add(part)
                found = self.addresses.region(constant_of(part) or 0)
                if found is not None and found not in reached:
                    reached.add(found)
                    self._escaped.setdefault(found, self.clock)
                    waiting.extend(self._held(found))
        return reached

    @property
    def escaped(self) -> set[int]:
        """Returns the objects whose address may be known to code outside of the path."""
        return set(self._escaped)

    def points_outside(self, terms: Iterable[Term]) -> bool:
        """Whether any of the values can be a pointer to memory outside."""
        for part in subterms(terms):
            known = self.fills.inputs.get(part)
            if known is not None and isinstance(known.type, Pointer):
                return True
        return False

    def held(self, numbers: Iterable[int]) -> list[Term]:
        """All values that some objects may hold."""
        return [term for number_ in numbers for term in self._held(number_)]

    def _held(self, number_: int) -> list[Term]:
        """All values that an object may hold."""
        held: list[Term] = []
        layer: Layer | None = self._contents[number_].top() if number_ in self._contents else None
        while layer is not None:
            held.extend(cell.term for cell in layer.cells.values())
            if isinstance(layer.base, Patch):
                held.append(layer.base.term)
            layer = layer.below
        return held

    def escapes_from_start(self, number_: int) -> None:
        """Notes that an object was known outside before the path started; what pointers from there wrote so far may have gone
        to it."""
        self._escaped[number_] = 0
        base = self.address(number_)
        layer: Layer | None = self.layer(_OUTSIDE)
        patches: list[Patch] = []
        while layer is not None:
            if isinstance(layer.base, Patch):
                patches.append(layer.base)
            layer = layer.below
        region = self.regions[number_]
        for patch in reversed(patches):
            if can_hold(region.type, patch.tag, self.layout):
                offset = linear.subtract(patch.offset, base)
                inside = and_(patch.condition, self._inside(offset, region))
                content = self._content(number_)
                content.push(patch._replace(condition=inside, offset=offset, low=None, high=None), None, None)

    def _inside(self, offset: Term, region: Region) -> Term:
        size = self.fills.offset(self.addresses.reserved(region.size))
        at_least = self._arithmetic.compare("<=", self.fills.offset(0), offset, Integer(64, True, ""))
        if isinstance(self._arithmetic, Bits):  # a difference below zero is a large number without sign
            at_least = TRUE
        return and_(at_least, self._arithmetic.compare("<", offset, size, self._pointer_type))

    # -- pointers -----------------------------------------------------------------------------------------------

    def resolve(self, pointer: Term, tag: Tag) -> Alternatives:
        """Where a pointer points: cases that exclude each other, the last one being what is left. That it is not null is
        constrained: a run would not go on. Empty if it can point nowhere."""
        self.not_null(pointer)
        found: list[tuple[Term, Spot]] = []
        for condition, term in self.cases(pointer):
            if constant_of(term) != 0:
                found += self.resolve_case(condition, term, tag)
        return tuple(found)

    def objects_of(self, pointer: Term) -> set[int | None]:
        """The objects that a pointer can lead to; None stands for those that are not known."""
        return {self.addresses.region(linear.parts(term)[1]) for _, term in self.cases(pointer)}

    def not_null(self, pointer: Term) -> None:
        """Constrains a pointer that is dereferenced: a run does not go on after a null one."""
        self._ledger.constrain(distinct(pointer, self.fills.offset(0)))

    def resolve_case(self, condition: Term, pointer: Term, tag: Tag) -> list[tuple[Term, Spot]]:
        """Where one of the cases of a pointer points, perhaps moved by some bytes."""
        factors, constant = linear.parts(pointer)
        region = self.addresses.region(constant)
        if region is None:
            return self._outside_spots(condition, pointer, tag)
        offset = constant - (self.addresses.known_base(region) or 0)
        rest = linear.build(factors, 0, pointer.sort) if factors else None
        return [(condition, self._spot(region, 8 * offset, rest))]

    def _spot(self, region: int, bits: int, symbolic: Term | None) -> Spot:
        size = self.regions[region].size
        return Spot(region, bits, symbolic, 0, None if size is None else 8 * size)

    def cases(self, pointer: Term) -> list[tuple[Term, Term]]:
        """The pointer by cases, so that as many as possible are an address plus an offset."""
        done: list[tuple[Term, Term]] = []
        waiting = [(TRUE, pointer)]
        while waiting:
            condition, term = waiting.pop()
            if condition is FALSE:
                continue
            factors, constant = linear.parts(term)
            choice = next((f for f, times in factors.items() if f.op == "ite" and times == 1), None)
            if choice is None or self.addresses.region(constant) is not None or len(done) + len(waiting) >= _MOST_CASES:
                done.append((condition, term))
                continue
            rest = linear.subtract(term, choice)
            test, then, otherwise = choice.args
            waiting.append((and_(condition, not_(test)), linear.add(rest, otherwise)))
            waiting.append((and_(condition, test), linear.add(rest, then)))
        return done

    def _outside_spots(self, condition: Term, term: Term, tag: Tag) -> list[tuple[Term, Spot]]:
        """Where a pointer that came from outside points."""
        self._ledger.assume(OUTSIDE_POINTERS.sentence)
        born, named = 0, set[int | None]()
        clock.demand()
        for leaf in self._origins.of(term):
            clock.work(clock.LEAF)
            if leaf.op == "symbol":
                born = max(born, self.fills.births.get(leaf, 0))
            elif isinstance(leaf.data, int):
                named.add(self.addresses.region(leaf.data))
        spots: list[tuple[Term, Spot]] = []
        for number_, region in enumerate(self.regions):
            known = number_ in named or self._escaped.get(number_, born + 1) <= born
            if known and region.kind != "function" and can_hold(region.type, tag, self.layout):
                offset = linear.subtract(term, self.address(number_))
                inside = self._inside(offset, region)
                if inside is not FALSE:
                    spots.append((and_(condition, inside), self._spot(number_, 0, offset)._replace(is_typed=True)))
        spots.append((condition, Spot(_OUTSIDE, 0, term, is_typed=True)))
        clock.work(clock.PLACE * len(spots) + clock.LEAF * len(self.regions))
        return spots

    def constrain_outside(self, pointer: Term) -> None:
        """Notes that a pointer came from outside: it is null, or points outside, or to an object that is known there."""
        compare = self._arithmetic.compare
        is_path_known = any(not self.regions[number_].is_static for number_ in self._escaped)
        inside = FALSE
        if is_path_known or self.statics_are_known:
            end = self.addresses.end if is_path_known else self.addresses.static_end
            inside = and_(
                compare("<=", self.fills.offset(self.addresses.first), pointer, self._pointer_type),
                compare("<", pointer, self.fills.offset(end), self._pointer_type),
            )
        outside = compare(">=", pointer, self.fills.offset(self.addresses.outside), self._pointer_type)
        self._ledger.assume(OUTSIDE_POINTERS.sentence)
        self._ledger.constrain(or_(eq(pointer, self.fills.offset(0)), outside, inside))

    # -- accesses -----------------------------------------------------------------------------------------------

    def load(self, spots: Alternatives, width: int, type_: Type, tag: Tag) -> Term:
        """The scalar of `width` bits at one of several places."""
        value: Term | None = None
        clock.work(clock.PLACE * len(spots))
        for condition, spot in reversed(spots):
            here = self._load(spot, width, type_, tag)
            value = here if value is None else ite(condition, here, value)
        return value if value is not None else self.objects.open(type_, "a null pointer is read through")

    def _load(self, spot: Spot, width: int, type_: Type, tag: Tag) -> Term:
        region = self.regions[spot.region]
        if spot.region not in self._contents or region.kind == "function":
            return self.objects.open(type_, f"{region.name} is read after its lifetime")
        layer = self.layer(spot.region)
        if spot.symbolic is None:
            if region.size is not None and not 0 <= spot.bits <= 8 * region.size - width:
                return self.objects.open(type_, f"{region.name} is read outside of its bounds")
            return self.objects.read(layer, spot.bits, width, type_, tag)
        self._ledger.assume((OWN_TYPES if spot.is_typed else BOUNDS).sentence)
        extra = spot.bits % 8
        offset = linear.add(spot.symbolic, self.fills.offset((spot.bits - extra) // 8))
        if not extra and width % 8 == 0:
            return self.objects.read_at(layer, offset, width, type_, spot.low, spot.high, tag, spot.is_typed)
        whole = -(-(extra + width) // 8) * 8
        pattern = self.objects.read_at(layer, offset, whole, unsigned(whole), spot.low, spot.high, ANY_TAG)
        value = self._patterns.value(self._patterns.cut(pattern, extra, width), width, type_)
        return value if value is not None else self.objects.open(type_, "a floating value is no bit-field")

    def store(self, spots: Alternatives, width: int, type_: Type, term: Term, tag: Tag) -> None:
        """Writes a scalar to one of several places."""
        clock.work(clock.PLACE * len(spots))
        for condition, spot in spots:
            self._store(TRUE if len(spots) == 1 else condition, spot, Cell(width, term, type_), tag)

    def _store(self, condition: Term, spot: Spot, cell: Cell, tag: Tag) -> None:
        region = self.regions[spot.region]
        if condition is FALSE or spot.region not in self._contents or region.kind == "function":
            return
        self._writes(spot.region)
        may_point = isinstance(cell.type, Pointer) or cell.width == self._arithmetic.model.pointer_bits
        if may_point and (spot.region == _OUTSIDE or spot.region in self._escaped):
            self.expose((cell.term,))
        if spot.symbolic is None:
            if region.size is not None and not 0 <= spot.bits <= 8 * region.size - cell.width:
                self._ledger.assume(BOUNDS.sentence)
                return
            term = cell.term
            if condition is not TRUE:
                term = ite(condition, term, self.objects.read(self.layer(spot.region), spot.bits, cell.width, cell.type, tag))
            self.objects.write(self._content(spot.region), spot.bits, cell._replace(term=term), tag)
            return
        self._ledger.assume((OWN_TYPES if spot.is_typed else BOUNDS).sentence)
        tag = tag if spot.is_typed else ANY_TAG
        extra = spot.bits % 8
        offset = linear.add(spot.symbolic, self.fills.offset((spot.bits - extra) // 8))
        if extra or cell.width % 8:
            cell = self._spliced(spot, offset, extra, cell)
            tag = ANY_TAG
        patch = Patch(condition, offset, cell.width, cell.term, cell.type, spot.low, spot.high, tag)
        self._content(spot.region).push(patch, spot.low, spot.high)

    def _spliced(self, spot: Spot, offset: Term, extra: int, cell: Cell) -> Cell:
        """The whole bytes that a bit-field is in, with the bit-field written."""
        whole = -(-(extra + cell.width) // 8) * 8
        type_ = unsigned(whole)
        old = self.objects.read_at(self.layer(spot.region), offset, whole, type_, spot.low, spot.high, ANY_TAG)
        pattern = self._patterns.of(cell.term, cell.type)
        if pattern is None:
            return Cell(whole, self.objects.open(type_, "a floating value is no bit-field"), type_)
        joined = self._patterns.cut(pattern, 0, cell.width)
        if extra:
            joined = self._patterns.join(self._patterns.cut(old, 0, extra), extra, joined)
        if whole > extra + cell.width:
            upper = self._patterns.cut(old, extra + cell.width, whole - extra - cell.width)
            joined = self._patterns.join(joined, extra + cell.width, upper)
        return Cell(whole, joined, type_)

    def fill(self, spots: Alternatives, size: int | None, kind: FillKind) -> None:
        """Fills a range of bytes with one value. `size` None: up to the end of the object; outside of all
        objects, everything."""
        for condition, spot in spots:
            region = self.regions[spot.region]
            if spot.region not in self._contents or region.kind == "function":
                continue
            self._writes(spot.region)
            start = spot.bits if spot.symbolic is None else 0
            end = None if size is None or spot.symbolic is not None else start + 8 * size
            if end is None and region.size is not None:
                end = 8 * region.size
            if (condition is not TRUE and len(spots) > 1) or spot.symbolic is not None:
                kind = "unknown"  # what it was before, or what it is filled with
                if spot.symbolic is not None or condition is not TRUE:
                    self._ledger.approximate(f"what is written to a part of {region.name} is not followed")
            whole = self._fill(region, kind)
            if spot.region == _OUTSIDE or end is None or (start == 0 and region.size is not None and end >= 8 * region.size):
                self._content(spot.region).push(whole, None, None)
            else:
                self._content(spot.region).push(whole._replace(low=start, high=end), start, end)
