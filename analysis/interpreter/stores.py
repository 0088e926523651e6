"""Stores into objects, as functions on registers and the value."""

from __future__ import annotations

from collections.abc import Callable

from analysis.interpreter.arithmetic import Registers
from analysis.interpreter.expressions import Expressions
from analysis.interpreter.memory import ASKED, KNOWN
from analysis.interpreter.objects import is_aggregate
from analysis.interpreter.scalars import converter
from analysis.model import ir
from analysis.model.c_types import Type

Write = Callable[[Registers, object], None]


class Stores:
    """Compiles stores of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self._expressions = expressions

    def write(self, target: ir.Expr, source: Type) -> Write:
        """Stores a value of type `source`, a scalar or bytes with masks, in an object."""
        expressions = self._expressions
        if is_aggregate(target.type):
            start = expressions.address(target)
            return lambda r, value: r[0].write(start(r), *value)  # type: ignore[misc]
        slot = expressions.register(target)
        if isinstance(target, ir.Field) and (at := expressions.bit_field(target)) is not None:
            return self._write_bits(target, *at)
        convert = converter(source, target.type, expressions.code.pointer_bits)
        if slot is not None:

            def assign(r: Registers, value: object) -> None:
                r[slot] = value if convert is None or value is None else convert(value)  # type: ignore[arg-type]

            return assign
        put, address = expressions.store(target.type), expressions.address(target)

        def store(r: Registers, value: object) -> None:
            if value is None:  # of a function that returned none
                return
            put(r[0], address(r), value if convert is None else convert(value))  # type: ignore[arg-type]

        return store

    def _write_bits(self, target: ir.Field, first: int, count: int, before: int, width: int) -> Write:
        record = self._expressions.address(target.record)
        mask = ((1 << width) - 1) << before
        known = bytes((KNOWN,)) * count

        def write(r: Registers, value: object) -> None:
            memory, address = r[0], record(r) + first
            block = memory.writable(address, count)
            offset = address - block.base
            if ASKED in block.mask[offset : offset + count]:
                memory.ask(block, offset, count)
            old = int.from_bytes(block.data[offset : offset + count], "little")
            new = old & ~mask | int(value) << before & mask  # type: ignore[call-overload]
            memory.write(address, new.to_bytes(count, "little"), known)

        return write
