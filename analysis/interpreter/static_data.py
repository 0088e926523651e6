"""Objects with static storage: what they hold when the program starts (C11 6.7.9p10), made when they are first touched."""

from __future__ import annotations

from analysis.c.library_variables import STREAMS
from analysis.cfa.graph import Cfa, Edge, Global
from analysis.interpreter.function_code import FunctionCode, Node
from analysis.interpreter.halting import EndError, ViolationError, not_modelled
from analysis.interpreter.memory import ASKED, KNOWN, Block
from analysis.interpreter.program_code import ProgramCode
from analysis.interpreter.running_machine import RunningMachine
from analysis.model import clock, ir
from analysis.model.c_types import VOID, Function, Pointer
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
            if known.var.name == "stdin":
                machine.stdin = stream
            machine.memory.write(block.base, stream.to_bytes(block.size, "little"), bytes((KNOWN,)) * block.size)
            return
        case ir.Unknown() if not parts and not known.open:
            pass
        case initial:  # it starts with a value, not with any
            assignments = parts if isinstance(initial, ir.Unknown) else (ir.Assign(known.var, initial),)
            if known.open or not _initialised(machine, block, known.var.name, assignments):
                not_modelled(f"the initialiser of {block.name}")
            return
    machine.assume(f"what {block.name} holds at the start")
    _anything(block)


def _anything(block: Block) -> None:
    block.fill = ASKED
    block.mask = bytearray(bytes((ASKED,)) * block.size)


def _initialised(machine: RunningMachine, block: Block, name: str, parts: tuple[ir.Assign, ...]) -> bool:
    """Puts into a block what its initialiser says; False if that cannot be done. What is the same in every run is computed once:
    large tables take much longer than what a run does with them."""
    clock.work(clock.RUN_STEP * len(parts))
    known = machine.code.initial.get(name)
    if known is not None:
        block.data[:], block.mask[:] = known
        return True
    done = _stored(machine, name, parts)
    if done and all(_is_constant(part.value) for part in parts):
        machine.code.initial[name] = bytes(block.data), bytes(block.mask)
    return done


def _is_constant(value: ir.Expr) -> bool:
    """Whether a value is made of numbers and addresses of static objects alone, so that no run says anything else: literals lie
    elsewhere in each run."""
    if isinstance(value, ir.AddressOf):
        return isinstance(value.lvalue, ir.Var) and value.lvalue.scope in ("global", "function")
    if isinstance(value, ir.Cast | ir.Unary | ir.Binary):
        is_number = isinstance(value.type, Pointer) or not any(isinstance(one.type, Pointer) for one in ir.operands(value))
        return is_number and all(map(_is_constant, ir.operands(value)))
    return isinstance(value, ir.IntConst | ir.FloatConst | ir.Zero)


def _stored(machine: RunningMachine, name: str, parts: tuple[ir.Assign, ...]) -> bool:
    """Runs the assignments of an initialiser; False if that cannot be done."""
    registers = [machine.memory, machine]
    try:
        for node in _compiled(machine.code, name, parts):
            node(registers)
    except (EndError, ViolationError):  # a program does not run its initialisers
        return False
    return True


def _compiled(code: ProgramCode, name: str, parts: tuple[ir.Assign, ...]) -> tuple[Node, ...]:
    """The assignments as those of a function without variables, compiled once for all runs. Raises EndError for what is not
    modelled."""
    known = code.initialisers.get(name)
    if known is None:
        if any(var.scope == "temporary" for part in parts for var in ir.variables(part.value)):
            not_modelled("the address of a compound literal")
        edges = tuple(Edge(number, number, number + 1, part) for number, part in enumerate(parts))
        cfa = Cfa(name="", path="", type_=Function(VOID, ()), parameters=(), entry=0, exit_=len(edges), edges=edges, digest="")
        function = FunctionCode(code, cfa)
        known = code.initialisers[name] = tuple(function.node(edge.source) for edge in edges)
    return known
