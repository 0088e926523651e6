"""Memory as bytes in blocks, one block for each object, with what is known of each byte.

A pointer is an integer, its address, and so survives casts, unions and `memcpy`. The address alone determines the object:
every block has *pages* of its own, and no address is used twice. On LP64 a page has 2^40 bytes,
with the block in its middle, so that no offset that 32-bit arithmetic can make leads into another block. On ILP32 a page has
4096 bytes, and the page before and the one after a block belong to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, NoReturn

from analysis.interpreter.halting import ViolationError, not_modelled, out_of_memory
from analysis.interpreter.outcome import Kind, Step
from analysis.model.c_types import DataModel, Type

BlockKind = Literal["global", "local", "heap", "literal", "given", "function", "resource"]
Reading = Literal["more", "short", "end", "error", "unknown", "none"]
FROM_OUTSIDE = "an object from outside"
"""What messages call an object that a run was given."""
NO_OBJECT = "where no object is"
"""What messages say of an address such as that of an element of a null pointer's target, or of a number."""
UNDEFINED, KNOWN, ASKED = 0, 1, 2  # of a byte: indeterminate; has a value; its value is an input, asked for when it is read
OF_ADDRESS = 3  # of a byte of a pointer: it has a value, which depends on where an object lies
OPEN = 5  # of a byte: it has a value, and C leaves open which
LEFT_OPEN = ", where C leaves open which number it is"
"""The end of a sentence that says what a run takes such a value for."""
LINE_END = 4  # of a byte of a line that was read: it is 0, the end of the longest form of the line, and nobody asked for it yet
NULL_PAGE = 4096  # what is accessed below this address is taken for a member or element of a null pointer's target
_UNLIMITED = 1 << 24  # how far an object of unknown size is let grow
_OVERHEAD = 64  # bytes that a block costs beside its contents


class Block:
    """An object. `type` is its declared type, or that of its elements, where it is known.
    `growing`: its size is not known. `fixed`: it cannot be written to. `ended`: of a variable that
    is gone, what made it so. Functions and resources have a size of 0, so that every access to them
    is looked at. `line`: what a function that reads lines last put into it, if something. `made`: the calls that were open when a
    block of the heap or a resource was made, the innermost first. `reading`: of a stream, what is known of reading on: "more"
    while all came that was asked for, "short" once less came, "end" or "error" once it is known which, "none" where it was
    opened only for writing, else "unknown"."""

    __slots__ = (
        "alive", "base", "data", "ended", "fill", "fixed", "growing", "kind", "line", "made", "mask", "name", "reading", "size",
        "type",
    )  # fmt: skip

    def __init__(self, kind: BlockKind, name: str, size: int | None, fill: int, type_: Type | None = None) -> None:
        self.kind = kind
        self.name = name
        self.growing = size is None
        self.size = size or 0
        self.data = bytearray(self.size)
        self.mask = bytearray(bytes((fill,)) * self.size)
        self.fill = fill
        self.type = type_
        self.alive = True
        self.fixed = kind == "literal"
        self.base = 0
        self.ended = ""
        self.line: Line | None = None
        self.made: tuple[Step, ...] = ()
        self.reading: Reading = "more"


class Line(NamedTuple):
    """A line that was read, of which only its longest form is in memory. `start`: its offset in the block; `data` and `mask`:
    what was there before, in the bytes that can be of the line, with the 0 at its end."""

    start: int
    data: bytes
    mask: bytes


class Memory:
    """The blocks by page. `missing` makes a static object when its page is first touched, and gives None for other pages."""

    def __init__(
        self, model: DataModel, first_page: int, bound: int, missing: Callable[[int], Block | None], *, elsewhere: bool = False
    ) -> None:
        self.pages: dict[int, Block] = {}
        self.shift = page_shift(model)
        self._wide = model.pointer_bits == 64
        self._next = first_page
        self._elsewhere = elsewhere
        self._left = bound
        self._missing = missing
        self.ask: Callable[[Block, int, int], None] = _nobody
        self.note: Callable[[str], None] = _nowhere
        self.looking = False  # whether values are only looked at, and not used
        self.by_address = False  # whether the number of an address was used
        self.any_value = False  # whether indeterminate bytes are inputs, too
        self.last_page = (1 << (model.pointer_bits - 1 - self.shift)) if self._wide else 1 << (32 - self.shift)

    def add(self, block: Block) -> int:
        """Gives the block an address, which is returned."""
        first, after, block.base = place(self._next, block.size, self._wide, elsewhere=self._elsewhere)
        if self._elsewhere:  # before all that there are
            first, after, block.base = place(2 * first - after, block.size, self._wide, elsewhere=True)
        if after > self.last_page or first < 1:
            out_of_memory()
        self._pay(block.size)
        for number in range(first, after):
            self.pages[number] = block
        self._next = first if self._elsewhere else after
        return block.base

    def add_at(self, block: Block, first: int, after: int) -> None:
        """Puts a static object on its pages."""
        self._pay(block.size)
        for number in range(first, after):
            self.pages[number] = block

    def _pay(self, size: int) -> None:
        self._left -= size + _OVERHEAD
        if self._left < 0:
            out_of_memory()

    def make_room(self, size: int | None) -> None:
        """Ends the run if a block of this size is beyond the bound; to be called before one is made."""
        if size is not None and size + _OVERHEAD > self._left:
            out_of_memory()

    def end(self, block: Block) -> None:
        """The object's lifetime ends; its address stays taken."""
        self._left += block.size
        block.alive = False
        block.line = None
        block.data = block.mask = bytearray()

    def forget(self, block: Block, remains: Block) -> None:
        """Like `end`, for the many locals of a long run: `remains`, which is shared, stands for the dead block from now on."""
        self._left += block.size
        page = block.base >> self.shift
        if self._wide:
            self.pages[page] = remains
        else:
            while self.pages.get(page) is block:
                self.pages[page] = remains
                page += 1
        block.alive = False

    def find(self, address: int) -> Block | None:
        """The block, alive or not, that the address belongs to."""
        block = self.pages.get(address >> self.shift)
        return self._missing(address >> self.shift) if block is None else block

    def block(self, address: int, size: int, action: str) -> Block:
        """The live block with `size` bytes from the address, else a violation. `action` is "read", "write" or "call"."""
        block = self.find(address)
        if block is None:
            self._nowhere(address, action)
        if not block.alive:
            raise ViolationError(*_gone(block, f"{action} of {_bytes(size)} of"))
        if block.kind in ("function", "resource"):
            not_modelled(f"{action} of the bytes of {described(block)}")
        offset = address - block.base
        if offset < 0 or offset + size > block.size:
            self.outside(block, offset, size, action)
        return block

    def writable(self, address: int, size: int) -> Block:
        """The live block that holds `size` bytes from the address, to be written to."""
        block = self.block(address, size, "write")
        if block.fixed:
            not_modelled(f"a write to {described(block)}, which is constant")
        return block

    def _nowhere(self, address: int, action: str) -> NoReturn:
        if address < NULL_PAGE:
            raise ViolationError("null-dereference", f"{action} through a null pointer" + (f"+{address}" if address else ""))
        raise ViolationError("array-bounds", f"{action} at address {address:#x}, {NO_OBJECT}")

    def outside(self, block: Block, offset: int, size: int, action: str) -> None:
        """An access beyond the block: a violation, unless its size is not known; then it grows."""
        if not block.growing or offset < 0 or offset + size > _UNLIMITED:
            raise ViolationError("array-bounds", f"{action} of {_bytes(size)} at offset {offset} of {_with_size(block)}")
        more = offset + size - block.size
        self._pay(more)
        block.data.extend(bytes(more))
        block.mask.extend(bytes((block.fill,)) * more)
        block.size += more

    def undefined(self, block: Block, offset: int, size: int) -> None:
        """Called when not all of the bytes to be read are known: asks for those that are inputs; others are a violation,
        unless they count as inputs, too. Those of addresses and ends of lines are known from now on, and used."""
        part = block.mask[offset : offset + size]
        if OF_ADDRESS in part and not self.looking:
            self.by_address = True
            block.mask[offset : offset + size] = part = part.replace(bytes((OF_ADDRESS,)), bytes((KNOWN,)))
        if ASKED in part:
            self.ask(block, offset, size)
            part = block.mask[offset : offset + size]
        if LINE_END in part and not self.looking:
            block.mask[offset : offset + size] = part = part.replace(bytes((LINE_END,)), bytes((KNOWN,)))
        if OPEN in part and not self.looking:
            self.note(f"{described(block)} holds a null pointer{LEFT_OPEN}")
            block.mask[offset : offset + size] = part = part.replace(bytes((OPEN,)), bytes((KNOWN,)))
        if UNDEFINED in part and self.any_value:
            self.note(f"{described(block)} is read before it has a value")
            block.mask[offset : offset + size] = part.replace(bytes((UNDEFINED,)), bytes((ASKED,)))
            self.ask(block, offset, size)
        elif UNDEFINED in part:
            where = f"+{offset}" if offset else ""
            unset = "before it is written" if size == 1 else "before they are written"
            raise ViolationError("uninitialized-read", f"read of {_bytes(size)} of {described(block)}{where} {unset}")

    def read(self, address: int, size: int) -> tuple[bytes, bytes]:
        """Returns the bytes at the address with their masks, so that copies stay indeterminate where the original
        is."""
        if size == 0:
            return b"", b""
        block = self.block(address, size, "read")
        offset = address - block.base
        part = block.mask[offset : offset + size]
        if self.any_value and UNDEFINED in part:  # copies of one value are the same
            self.undefined(block, offset, size)
        elif ASKED in part or LINE_END in part:
            self._ask_to_copy(block, offset, size)
        return bytes(block.data[offset : offset + size]), bytes(block.mask[offset : offset + size])

    def _ask_to_copy(self, block: Block, offset: int, size: int) -> None:
        """Asks for the bytes that are inputs; indeterminate ones are left alone."""
        if ASKED in block.mask[offset : offset + size]:
            self.ask(block, offset, size)
        known = block.mask[offset : offset + size].replace(bytes((LINE_END,)), bytes((KNOWN,)))
        block.mask[offset : offset + size] = known

    def write(self, address: int, data: bytes, mask: bytes) -> None:
        """Stores bytes with their masks."""
        if not data:
            return
        block = self.writable(address, len(data))
        offset = address - block.base
        block.data[offset : offset + len(data)] = data
        block.mask[offset : offset + len(data)] = mask


def _nowhere(_text: str) -> None:
    """Notes nothing."""


def _nobody(_block: Block, _offset: int, _size: int) -> None:
    """Answers nothing."""


def page_shift(model: DataModel) -> int:
    """How many low bits of an address do not belong to its page."""
    return 40 if model.pointer_bits == 64 else 12


def place(page: int, size: int, wide: bool, *, elsewhere: bool = False) -> tuple[int, int, int]:
    """The first page of a block placed from `page` on, the one after its last, and its address; `elsewhere` it is not aligned
    more than its size asks for."""
    shifted = next(step for step in (8, 4, 2, 1) if size % step == 0) if elsewhere else 0
    if wide:
        # the low half of an address should not be zero: programs print, hash and test it
        half = ((page * 4096 + 4096) & 0x7FFFFFF0) + (0x80000000 if elsewhere else 0)
        return page, page + 1, (page << 40) + (1 << 39) + half + shifted
    return page, page + 2 + max(1, -(-(size + shifted) // 4096)), ((page + 1) << 12) + shifted


def first_page(model: DataModel, *, elsewhere: bool) -> int:
    """Where static objects lie, from this page on. All others come after them, and `elsewhere` before."""
    if not elsewhere:
        return 1
    return 1_000_003 if model.pointer_bits == 64 else 500_009


def described(block: Block) -> str:
    """The block for people: `x`, `heap block 2 (12 bytes)`. A resource, such as an open file, has no bytes."""
    if block.kind in ("global", "local", "function", "resource"):
        return block.name
    name = FROM_OUTSIDE if block.kind == "given" else block.name
    return f"{name} ({_bytes(block.size)})"


def _with_size(block: Block) -> str:
    """The block for people, with its size."""
    return f"{block.name}, which has {_bytes(block.size)}" if block.kind in ("global", "local") else described(block)


def _bytes(size: int) -> str:
    return "1 byte" if size == 1 else f"{size} bytes"


def rest_of_text(block: Block, address: int) -> bytes:
    """The characters of a block from an address on, up to a zero."""
    return bytes(block.data[max(0, address - block.base) :]).partition(b"\0")[0]


def _gone(block: Block, action: str) -> tuple[Kind, str]:
    """The rule that an access of a dead block violates, and what it is."""
    if block.kind == "local":
        return "use-after-scope", f"{action} {described(block)}, whose {block.ended}"
    return "use-after-free", f"{action} {described(block)}, which is freed"
