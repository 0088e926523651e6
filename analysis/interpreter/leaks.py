"""What only the state of a run shows: blocks of the heap and resources that no pointer leads to any more, and what a program
should not leave behind.

As leak checkers do it, whatever looks like an address into a block counts as a pointer to it, also into its middle. A temporary
of lowering counts as long as it can still be used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from analysis.cfa.graph import Cfa
from analysis.interpreter.function_code import FunctionCode
from analysis.interpreter.library.locks import still_held
from analysis.interpreter.machine import Machine
from analysis.interpreter.memory import KNOWN, OF_ADDRESS, Block, described
from analysis.interpreter.outcome import Kind, Step
from analysis.model import ir

_LOST: dict[Kind, str] = {"memory-leak": "heap", "resource-leak": "resource"}
AT_END: tuple[Kind, ...] = ("memory-leak", "resource-leak", "memory-cleanup", "lock-at-exit")
"""The kinds that the state at the end of a program can violate."""


def lost_blocks(machine: Machine, kind: Kind) -> list[Block]:
    """The live blocks that nothing leads to, in the order in which they were made: those of the heap for `memory-leak`, resources
    for `resource-leak`, none for another kind. A value that a caller is about to receive leads to its block."""
    wanted = _LOST.get(kind)
    if wanted is None:
        return []
    reached = _reachable(machine, machine.result)
    blocks = {id(block): block for block in machine.memory.pages.values() if block.kind == wanted and block.alive}
    return [block for key, block in blocks.items() if key not in reached]


class Missing(NamedTuple):
    """What is wrong, for people; `made` is that of the block that it is about."""

    text: str
    made: tuple[Step, ...] = ()


def missing(
    machine: Machine, kind: Kind, *, ended: bool, known: Sequence[Block] = (), made: Step | None = None
) -> Missing | None:
    """What is wrong where the run is now, if it is of a kind that only the state shows. `ended`: the program has
    ended, so that locks should be released for `lock-at-exit`, and memory for `memory-cleanup`. `known`: blocks whose loss does
    not count, such as those that were lost before. `made`: only blocks that were made in this call count."""
    if kind in _LOST:
        before = {id(block) for block in known}
        new = (block for block in lost_blocks(machine, kind) if id(block) not in before)
        block = next((block for block in new if made is None or made in block.made), None)
        return None if block is None else Missing(f"nothing points to {described(block)} any more", block.made)
    if kind == "lock-at-exit" and ended:
        held = still_held(machine)
        return None if held is None else Missing(f"{held} when the program ends")
    if kind == "memory-cleanup" and ended:
        blocks = machine.memory.pages.values()
        left = next((block for block in blocks if block.kind == "heap" and block.alive), None)
        return None if left is None else Missing(f"{described(left)} is not freed when the program ends", left.made)
    return None


def _reachable(machine: Machine, returned: Any) -> set[int]:
    memory = machine.memory
    reached: set[int] = set()
    waiting: list[Block] = []

    def reach(value: Any) -> None:
        block = memory.pages.get(value >> memory.shift) if isinstance(value, int) else None
        if block is not None and block.alive and id(block) not in reached:
            reached.add(id(block))
            waiting.append(block)

    for block in list(memory.pages.values()):
        if block.kind in ("global", "given"):
            reach(block.base)
    for value in _values(machine, returned):
        reach(value)
    size = machine.code.pointer_bits // 8
    while waiting:
        block = waiting.pop()
        for value in _words(block.data, block.mask, size):
            reach(value)
    return reached


def _values(machine: Machine, returned: Any) -> Iterator[Any]:
    """The values of registers; those of locals in memory lead to their blocks, and so to what is in these."""
    if isinstance(returned, tuple):
        yield from _words(returned[0], returned[1], machine.code.pointer_bits // 8)
    else:
        yield returned
    frames = [(frame.code, frame.registers, frame.code.targets[frame.edge]) for frame in machine.frames]
    if machine.running:
        frames.append((machine.current, machine.registers, machine.location))
    for code, registers, location in frames:
        yield from _registers(code, registers, location)


def _registers(code: FunctionCode, registers: list[Any], location: int) -> Iterator[Any]:
    used: set[str] | None = None
    for name, slot in code.slots.items():
        value = registers[slot]
        if value is None:
            continue
        if name.startswith("$"):
            used = _used_after(code.cfa, location) if used is None else used
            if name not in used:
                continue
        yield value


def _words(data: bytes | bytearray, mask: bytes | bytearray, size: int) -> Iterator[int]:
    """The words that are not 0, where they have a value. Most large objects hold nothing else than zeros."""
    if data == bytes(len(data)):
        return
    held = bytes((KNOWN,)) * size, bytes((OF_ADDRESS,)) * size
    words = struct.iter_unpack("<Q" if size == 8 else "<I", memoryview(data)[: len(data) // size * size])
    for number, (value,) in enumerate(words):
        if value and mask[number * size : (number + 1) * size] in held:
            yield value


def _used_after(cfa: Cfa, location: int) -> set[str]:
    """The temporaries that are read on some path from the location before they are assigned (live variables, backwards)."""
    live: dict[int, set[str]] = {place: set() for place in cfa.locations}
    changed = True
    while changed:
        changed = False
        for edge in reversed(cfa.edges):
            before = _read(edge.effect) | (live[edge.target] - _assigned(edge.effect))
            if not before <= live[edge.source]:
                live[edge.source] |= before
                changed = True
    return live[location]


def _assigned(effect: ir.Effect) -> set[str]:
    """The temporary that an effect assigns as a whole."""
    target = ir.target_of(effect)
    return {target.name} if isinstance(target, ir.Var) else set()


def _read(effect: ir.Effect) -> set[str]:
    """The temporaries that an effect uses; the address of one is a use."""
    return {var.name for expr in ir.expressions_read(effect) for var in ir.variables(expr) if var.scope == "temporary"}
