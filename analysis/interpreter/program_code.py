"""What is compiled of a program once, for all runs: where static objects lie, layouts, the code of functions."""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from analysis.c.layout import Layout
from analysis.cfa.bit_layout import BitLayout
from analysis.cfa.graph import Cfa, Global, Program
from analysis.interpreter.argument_lists import LIST_BYTES, is_argument_list
from analysis.interpreter.halting import EndError
from analysis.interpreter.literals import literal_bytes
from analysis.interpreter.memory import first_page, page_shift, place
from analysis.interpreter.outcome import Start
from analysis.model import ir
from analysis.model.c_types import DataModel, Record, Type

LARGEST_STATIC = 1 << 26  # bytes of a static object


class StaticLayout:
    """Addresses of globals and functions, by name; the same for every run of a program but those `elsewhere`."""

    def __init__(self, program: Program, layout: Layout, *, elsewhere: bool) -> None:
        self._wide = layout.model.pointer_bits == 64
        self._shift = page_shift(layout.model)
        self.addresses: dict[str, int] = {}
        self._first_pages: list[int] = []
        self._names: list[str] = []
        self._elsewhere = elsewhere
        self.first_page = self.next_page = first_page(layout.model, elsewhere=elsewhere)
        for name in sorted(program.globals, reverse=elsewhere):
            self._add(name, layout.size(program.globals[name].var.type) or 1)
        for name in sorted(program.functions.keys() | program.externals.keys() | program.address_taken):
            if name not in self.addresses:
                self._add(name, 1)

    def _add(self, name: str, size: int) -> None:
        _, after, self.addresses[name] = place(self.next_page, min(size, LARGEST_STATIC), self._wide, elsewhere=self._elsewhere)
        self._first_pages.append(self.next_page)
        self._names.append(name)
        self.next_page = after

    def name_at(self, page: int) -> str | None:
        """The global or function that the page belongs to."""
        if not self.first_page <= page < self.next_page:
            return None
        return self._names[bisect_right(self._first_pages, page) - 1]

    def pages(self, name: str) -> tuple[int, int]:
        """The first page of a global or function, and the one after its last."""
        at = bisect_right(self._first_pages, self.addresses[name] >> self._shift) - 1
        return self._first_pages[at], self._first_pages[at + 1] if at + 1 < len(self._first_pages) else self.next_page


class ProgramCode:
    """A program as it is run under one data model. `wraps`: signed overflow does not end a run. `elsewhere`: see `Start`."""

    def __init__(self, program: Program, model: DataModel, wraps: bool, elsewhere: bool) -> None:
        self.elsewhere = elsewhere
        self.wraps = wraps
        self.functions = program.functions
        self.globals: dict[str, Global] = program.globals
        self.externals = program.externals
        self.address_taken = program.address_taken
        self._callers: dict[str, list[tuple[Cfa, ir.Call]]] | None = None
        self.records = program.records
        self.model = model
        self.pointer_bits = model.pointer_bits
        self.bits = BitLayout.of(program, model)
        self.layout = self.bits.layout
        self.static = StaticLayout(program, self.layout, elsewhere=elsewhere)
        self.compiled: dict[str, object] = {}
        self.initialisers: dict[str, tuple[Callable[[list[Any]], int], ...]] = {}  # of globals: the assignments, compiled
        self.initial: dict[str, tuple[bytes, bytes]] = {}  # the bytes, with their masks, of globals that all runs find alike

    @cached_property
    def literals(self) -> Counter[bytes]:
        """How many string literals of the program have these bytes."""
        effects = (expr for cfa in self.functions.values() for edge in cfa.edges for expr in ir.expressions(edge.effect))
        initial = (value for one in self.globals.values() for value in (one.initial, *(part.value for part in one.parts)))
        parts = (part for expr in chain(effects, initial) for part in ir.walk(expr))
        return Counter(filter(None, (_bytes_of(part.text) for part in parts if isinstance(part, ir.StringConst))))

    def callers(self, name: str) -> Sequence[tuple[Cfa, ir.Call]]:
        """The direct calls of a function, with the functions that they are in."""
        if self._callers is None:
            self._callers = {}
            for cfa in self.functions.values():
                for edge in cfa.calls:
                    if isinstance(edge.effect, ir.Call) and (callee := ir.direct_callee(edge.effect)) is not None:
                        self._callers.setdefault(callee, []).append((cfa, edge.effect))
        return self._callers.get(name, ())

    def ends(self, name: str) -> bool:
        """Whether an external function never returns, by its declaration or a contract of the project."""
        external = self.externals.get(name)
        return external is not None and external.noreturn

    def size(self, type_: Type) -> int | None:
        """`sizeof`, None for incomplete types and variable-length arrays. Of a `va_list`, which is no type of C's, enough."""
        return LIST_BYTES if is_argument_list(type_) else self.bits.bytes(type_)

    def offset(self, record: Record, name: str, type_: Type) -> int | None:
        """Where member `name` of that type starts, in bytes; None for bit-fields and members that are not there."""
        start = None if self.bits.is_bit_field(record, name) else self.bits.member(record, name, type_)
        return None if start is None else start // 8


def _bytes_of(text: str) -> bytes:
    """The bytes of a literal, none if they are not modelled."""
    try:
        return literal_bytes(text)
    except EndError:
        return b""


_known: weakref.WeakKeyDictionary[Program, dict[tuple[str, bool, bool], ProgramCode]] = weakref.WeakKeyDictionary()


def code_of(program: Program, start: Start) -> ProgramCode:
    """The code of a program for runs that begin so, made once."""
    found = _known.setdefault(program, {})
    key = start.data_model.name, "signed-overflow" in start.past, start.elsewhere
    if key not in found:
        found[key] = ProgramCode(program, start.data_model, *key[1:])
    return found[key]
