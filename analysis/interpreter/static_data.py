"""Objects with static storage: what they hold when the program starts (C11 6.7.9p10), made when they are first touched."""

from __future__ import annotations

from analysis.c.library_variables import STREAMS
from analysis.cfa.graph import Cfa, Edge, Global
from analysis.interpreter.function_code import FunctionCode
from analysis.interpreter.halting import EndError, ViolationError, not_modelled
from analysis.interpreter.memory import ASKED, KNOWN, Block
from analysis.interpreter.running_machine import RunningMachine
from analysis.model import ir
from analysis.model.c_types import VOID, Function
from analysis.model.spelling import display_name


def static_block(machine: RunningMachine, name: str) -> Block:
    """The block of a global or function, at its address."""
    known = machine.code.globals.get(name)
    if known is None:
        block = Block("function", display_name(name), 0, KNOWN)
    else:
        size = machine.code.size(known.var.type)
        machine.memory.make_room(size)
        block = Block("global", display_name(name), size, KNOWN, known.var.type)
    block.base = machine.code.static.addresses[name]
    machine.memory.add_at(block, *machine.code.static.pages(name))
    if known is not None:
        _fill(machine, block, known)
        block.fixed = known.constant
    return block


def _fill(machine: RunningMachine, block: Block, known: Global) -> None:
    parts = known.parts
    if machine.start.any_globals:
        _anything(block)
        return
    match known.initial:
        case ir.Zero() | ir.IntConst(0):
            return
        case ir.Unknown() if not parts and known.var.name in STREAMS:
            stream = machine.new_block("resource", 0, KNOWN)
            machine.memory.write(block.base, stream.to_bytes(block.size, "little"), bytes((KNOWN,)) * block.size)
            return
        case ir.Unknown() if not parts and not known.open:
            pass
        case initial:  # it starts with a value, not with any
            assignments = parts if isinstance(initial, ir.Unknown) else (ir.Assign(known.var, initial),)
            if known.open or not _stored(machine, assignments):
                not_modelled(f"the initialiser of {block.name}")
            return
    machine.assume(f"what {block.name} holds at the start")
    _anything(block)


def _anything(block: Block) -> None:
    block.fill = ASKED
    block.mask = bytearray(bytes((ASKED,)) * block.size)


def _stored(machine: RunningMachine, parts: tuple[ir.Assign, ...]) -> bool:
    """Runs the assignments of an initialiser as a function without variables; False if that cannot be done."""
    if any(var.scope == "temporary" for part in parts for var in ir.variables(part.value)):
        return False  # the address of a compound literal
    edges = tuple(Edge(number, number, number + 1, part) for number, part in enumerate(parts))
    cfa = Cfa(name="", path="", type_=Function(VOID, ()), parameters=(), entry=0, exit_=len(edges), edges=edges, digest="")
    code = FunctionCode(machine.code, cfa)
    registers = [machine.memory, machine]
    try:
        for edge in edges:
            code.node(edge.source)(registers)
    except (EndError, ViolationError):  # a program does not run its initialisers
        return False
    return True
