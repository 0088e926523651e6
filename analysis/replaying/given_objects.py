"""The objects of a run as C: those that were there before it, and those that functions outside returned."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence

from analysis.cfa.linking.obstructed import MAIN
from analysis.model.run_inputs import RunInput, RunStart

_MOST_WORDS = 100
_OBJECT = "everproof_object_"


class RefusedError(Exception):
    """Why a run cannot be made again, in one sentence."""


def spelled(linkage: str) -> str:
    """How the text names what has a linkage name."""
    return linkage.rpartition("::")[2].partition("~")[0]


class Objects:
    """The objects that were there before the run, or that functions outside returned."""

    def __init__(self, run: RunStart) -> None:
        self._run = run
        self._numbers = {id(one): number for number, one in enumerate(one for one in run.inputs if one.fresh is not None)}
        self._sizes = [one.fresh or 0 for one in run.inputs if one.fresh is not None]
        self._contents: dict[str, list[RunInput]] = defaultdict(list)
        for one in run.inputs:
            if one.kind == "memory":
                self._contents[one.name].append(one)
        is_main = spelled(run.entry) == MAIN
        self.unknown = [name for name in self._contents if not name.startswith("fresh ") and (is_main or not is_name(name))]
        """Objects that are not there before the run."""

    def declared(self, storage: str) -> list[str]:
        """The pointers to the objects."""
        return [f"{storage}char *{_OBJECT}{number};" for number in range(len(self._sizes))]

    def made(self, wrapped: Sequence[str]) -> list[str]:
        """A function that makes all objects before the program begins."""
        calloc = "__real_calloc" if "calloc" in wrapped else "calloc"
        made = [f"    {_OBJECT}{number} = {calloc}(1, {size});" for number, size in enumerate(self._sizes)]
        filled = [f"    {line}" for number in range(len(self._sizes)) for line in self._filled(number)]
        head = f"extern void *{calloc}(unsigned long, unsigned long);" if calloc == "calloc" else ""
        clear = "__attribute__((noinline)) static void everproof_clear(void) { volatile char left[1 << 16]; long at;"
        clear += " for (at = 0; at < sizeof left; at++) left[at] = 0; }"
        # else what is left of old frames leads to blocks that are lost
        end = "__attribute__((destructor)) static void everproof_end(void) { everproof_clear(); }"
        return [head, clear, end, "__attribute__((constructor)) static void everproof_begin(void) {", *made, *filled, "}"]

    def _filled(self, number: int) -> Iterator[str]:
        for one in self._contents.get(f"fresh {number}", ()):
            if not 0 <= one.offset <= self._sizes[number] - one.size:
                raise RefusedError("the run reads behind an object that it was given")
            yield self.stored(f"{_OBJECT}{number} + {one.offset}", one)

    def stored(self, address: str, one: RunInput) -> str:
        """A statement that puts an input at an address."""
        if one.fresh is not None or one.object:
            return f"*(void **)({address}) = {self.value(one)};"
        bytes_ = ", ".join(map(str, _bytes(one)))
        return f"{{ static const unsigned char given[] = {{{bytes_}}}; __builtin_memcpy({address}, given, sizeof given); }}"

    def value(self, one: RunInput) -> str:
        """An input as an expression of C."""
        if one.fresh is not None:
            return f"(void *){_OBJECT}{self._numbers[id(one)]}"
        if one.object.startswith("fresh "):
            return f"(void *)({_OBJECT}{one.object.removeprefix('fresh ')} + {one.number})"
        if one.object:
            return f"(void *)((char *)&{spelled(one.object)} + {one.number})"
        if one.is_float:
            return _float(one.real)
        return f"{one.number}" if abs(one.number) < 1 << 31 else f"(long){one.number & (1 << 64) - 1:#x}UL"

    @property
    def has_no_words(self) -> bool:
        """Whether the run was given an `argc` of 0, which no command line gives."""
        return self._count() == 0

    def words(self) -> Iterator[bytes]:
        """What the command line has to be for `main` to be given its arguments."""
        named = {one.name: one for one in self._run.inputs if one.kind == "parameter"}
        array = next((one for one in named.values() if one.fresh is not None), None)
        held = [] if array is None else self._contents.get(f"fresh {self._numbers[id(array)]}", [])
        content = {one.offset: one for one in held}
        count = min(self._count(), _MOST_WORDS)  # runs look at the first ones
        for number in range(1, count):
            yield self._text(content.get(8 * number))

    def _count(self) -> int:
        return next((one.number for one in self._run.inputs if one.kind == "parameter" and one.fresh is None), 1)

    def _text(self, pointer: RunInput | None) -> bytes:
        """A word; what the run did not read of it is made up."""
        if pointer is None or pointer.fresh is None:
            return b"a"
        known = {one.offset: one.number & 255 for one in self._contents.get(f"fresh {self._numbers[id(pointer)]}", ())}
        if known and max(known) > 10_000:
            raise RefusedError("a word of the command line is too long")
        read = [known.get(offset, ord("a")) for offset in range(max(known, default=0) + 1)]
        return bytes(read).partition(b"\0")[0]


def _bytes(one: RunInput) -> bytes:
    if one.is_float:
        return struct.pack("<f" if one.size == 4 else "<d", one.real)
    return (one.number & (1 << 8 * one.size) - 1).to_bytes(one.size, "little")


def _float(value: float) -> str:
    if value != value:
        return '__builtin_nan("")'
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value < 0 else ''}__builtin_inf()"
    return value.hex()


def is_name(text: str) -> bool:
    """Whether an object is a variable of the program."""
    return text.isidentifier()
