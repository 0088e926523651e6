"""The machine: frames, and the loop over edges.

C's calls are frames on a list, never Python's: a recursion of any depth ends at its bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.c.control import ERRORS
from analysis.interpreter.argument_lists import ArgumentList, Arguments
from analysis.interpreter.arithmetic import Registers
from analysis.interpreter.function_code import FunctionCode
from analysis.interpreter.halting import EndError, JumpError, ViolationError, not_modelled
from analysis.interpreter.inputs import Inputs
from analysis.interpreter.library import modelled
from analysis.interpreter.library.unknown import overwritten
from analysis.interpreter.memory import ASKED, KNOWN, UNDEFINED, Block, Memory
from analysis.interpreter.objects import Local, is_aggregate
from analysis.interpreter.open_orders import Begun, begun_in
from analysis.interpreter.outcome import Bounds, End, Exited, NotModelled, Observation, RanOut, Returned, Run, Start, Step
from analysis.interpreter.program_code import ProgramCode
from analysis.interpreter.questions import Questions
from analysis.interpreter.running_machine import LockState
from analysis.interpreter.scalars import converter
from analysis.interpreter.static_data import static_block
from analysis.model import clock
from analysis.model.c_types import INT, Type, Void, spell
from analysis.model.spelling import display_name

ERRNO = "errno"
"""The name of the object behind `errno` in questions."""

_CALLS_KEPT = 8  # that were open when a block was made


class Frame:
    """A function that waits for a call: its code, its registers, the number of the call's edge, its blocks."""

    __slots__ = ("blocks", "code", "edge", "registers")

    def __init__(self, code: FunctionCode, registers: Registers, edge: int, blocks: list[Block]) -> None:
        self.code = code
        self.registers = registers
        self.edge = edge
        self.blocks = blocks


class Machine(Questions):
    """One run of a program."""

    def __init__(self, code: ProgramCode, start: Start, inputs: Inputs, bounds: Bounds) -> None:
        at = code.static.first_page if code.elsewhere else code.static.next_page
        memory = Memory(code.model, at, bounds.memory, self._missing, elsewhere=code.elsewhere)
        super().__init__(code, memory, inputs, any_value="uninitialized-read" in start.past)
        self.start = start
        self.bounds = bounds
        self.frames: list[Frame] = []
        self.blocks: list[Block] = []
        self.registers: Registers
        self.running = False  # whether there is a current function with its registers
        self.pending: tuple[str, list[Any], tuple[Type, ...]] = ("", [], ())
        self.returned: Any = None
        self.result: Any = None  # of the entry function: a scalar, or bytes with masks
        self.last_call = 0  # the number of the call's edge that the last return came back to
        self.printed: list[str] = []
        self._printed_length = 0
        self._errno = 0
        self._is_errno_open = False
        self._literals: dict[bytes, int] = {}
        self._jumps: dict[int, tuple[int, Registers, int]] = {}
        self._remains: dict[tuple[str, str], Block] = {}
        self.locks: dict[int, LockState] = {}
        self.found_locks: set[int] = set()
        self.exposed: set[int] = set()  # the addresses of objects that external functions were given
        self.lists: dict[int, ArgumentList] = {}  # by the address of each `va_list`
        self.further: dict[int, Arguments] = {}  # by the depth of an activation: the arguments that have no parameter
        self.closed: set[int] = set()
        self.unreadable: set[int] = set()
        self.tokens = 0  # where `strtok` goes on
        self.stdin = 0  # the address of the stream, once the program uses the variable
        self.next: dict[int, frozenset[int]] = {}  # by stream: the characters that can come next
        self.at_exit: list[int] = []  # what `atexit` was given
        self.begun: list[Begun] = []  # operands that may be evaluated in either order

    def run(self, *, path: list[Step] | None = None, watch: Callable[[], End | None] | None = None) -> Run:
        """Runs to the end; the path is added to `path`. An end that `watch` gives, before an edge, is the run's."""
        end = self._run(self._begin, path, watch)
        while isinstance(end, Returned | Exited) and end != Exited(None) and self.at_exit:
            after = self._run(self._begin_handler, path, watch)
            if not isinstance(after, Returned):
                end = after
        return Run(
            end,
            self.step,
            tuple(path or ()),
            tuple(self.asked),
            tuple(self.assumptions),
            "".join(self.printed),
            self.memory.by_address,
        )

    def _run(self, begin: Callable[[], None], path: list[Step] | None, watch: Callable[[], End | None] | None) -> End:
        """From where `begin` puts the machine to the next end."""
        before = self.step + len(self.asked)
        try:
            begin()
            end = self._loop(path, watch)
        except ViolationError as violation:
            end = self._violated(violation)
        except EndError as ended:
            end = ended.end
        except RecursionError:
            end = NotModelled("an expression that is nested too deeply")
        clock.work(clock.RUN + clock.RUN_STEP * (self.step + len(self.asked) - before))
        if path is not None and len(path) < self.step and (edge := self.edge_here()) >= 0:
            path.append(Step(self.current.name, edge))  # the one during which it ended
        return end

    def _violated(self, violation: ViolationError) -> End:
        """The end of a run that violates a rule; between operands in either order, the violation may be one of this order."""
        between = self.between
        if between is not None:
            return NotModelled(between.reason)
        return Observation(violation.kind, violation.text, max(0, self.step - 1))

    @property
    def between(self) -> Begun | None:
        """The operands in either order that the run is between, in the function that runs."""
        return begun_in(self.begun, self.registers) if self.begun else None

    def _begin_handler(self) -> None:
        """The program ends: the function that `atexit` was given last runs (C11 7.22.4.4)."""
        name = self.function_at(self.at_exit.pop())
        if name not in self.code.functions:
            not_modelled(f"{name} at the end of the program")
        self.frames = []
        self._enter(self.code_of(name), [], self.code_of(name).parameter_types)

    def _begin(self) -> None:
        cfa = self.code.functions[self.start.function]
        values = []
        self.current = self.code_of(cfa.name)
        for parameter in cfa.parameters:
            if is_aggregate(parameter.type):
                size = self.code.size(parameter.type) or 0
                values.append((bytes(size), bytes((ASKED,)) * size))
            else:
                values.append(self.ask("parameter", parameter.type, display_name(parameter.name), 0))
        self._enter(self.current, values, self.current.parameter_types)

    def _enter(self, code: FunctionCode, values: list[Any], types: tuple[Type, ...]) -> None:
        """Makes a function the current one."""
        registers = code.blank.copy()
        registers[0], registers[1] = self.memory, self
        self.blocks = []
        self.current, self.registers, self.location = code, registers, code.cfa.entry
        self.running = True
        if self.frames:  # what an entry is passed is not known
            count = len(code.parameter_types)
            self.further[len(self.frames)] = tuple(zip(types[count:], values[count:], strict=False))
        if types != code.parameter_types:
            values = self._passed(values, types, code.parameter_types)
        for write, value in zip(code.parameters, values, strict=False):
            write(registers, value)

    def _passed(self, values: list[Any], types: tuple[Type, ...], wanted: tuple[Type, ...]) -> list[Any]:
        """The arguments as the function takes them: its declaration was not seen, or it is called through
        another type."""
        passed = []
        for value, type_, parameter in zip(values, types, wanted, strict=False):
            if is_aggregate(parameter) or is_aggregate(type_):
                if type_ != parameter:
                    not_modelled(f"an argument of type {spell(type_)} for {spell(parameter)}")
                passed.append(value)
            else:
                convert = converter(type_, parameter, self.code.pointer_bits)
                passed.append(value if convert is None else convert(value))
        return passed

    def _loop(self, path: list[Step] | None, watch: Callable[[], End | None] | None) -> End:
        limit = self.bounds.steps
        while True:
            code, registers, location = self.current, self.registers, self.location
            nodes, targets, first_special = code.nodes, code.targets, code.first_special
            while True:
                if watch is not None:
                    self.location = location
                    end = watch()
                    if end is not None:
                        return end
                if self.step >= limit:
                    return RanOut("steps")
                node = nodes.get(location)
                if node is None:
                    self.location = location
                    self.step += 1
                    node = code.node(location)
                    self.step -= 1
                self.location = location
                self.step += 1
                try:
                    edge = node(registers)
                except JumpError as jump:
                    if path is not None:
                        path.append(Step(code.name, self.edge_here()))
                    self._jump(jump)
                    break
                if path is not None:
                    path.append(Step(code.name, code.edges[edge].id))
                location = targets[edge]
                if edge >= first_special:
                    self.location = location
                    end = self._switch(edge)
                    if end is not None:
                        return end
                    break

    def _switch(self, edge: int) -> End | None:
        """After an edge that changes the function that runs."""
        name, values, types = self.pending
        if name:
            self.pending = ("", [], ())
            self._call(name, values, types, edge)
            return None
        if self.returned is _SETJMP:
            self.returned = None
            self._finish_call(self.current, self.registers, edge, 0)
            return None
        return self._leave()

    def _call(self, name: str, values: list[Any], types: tuple[Type, ...], edge: int) -> None:
        if display_name(name) in ERRORS:
            raise ViolationError("assertion", f"{display_name(name)} is called")
        if name not in self.code.functions:
            value = self._external(name, values, types)
            self._finish_call(self.current, self.registers, edge, value)
            return
        if len(self.frames) + 1 >= self.bounds.depth:
            raise EndError(RanOut("depth"))
        code = self.code_of(name)
        self.frames.append(Frame(self.current, self.registers, edge, self.blocks))
        self._enter(code, values, types)

    def open_calls(self) -> tuple[Step, ...]:
        """The calls that are open, the innermost first, as far as they are kept."""
        outer = [Step(frame.code.name, frame.code.edges[frame.edge].id) for frame in self.frames[: -_CALLS_KEPT - 1 : -1]]
        return (*super().open_calls(), *outer)

    def _external(self, name: str, values: list[Any], types: tuple[Type, ...]) -> Any:
        """A call through a pointer of an external function."""
        external = self.code.externals.get(name)
        returned = Void() if external is None else external.type.result
        return modelled(name, returned, ends=self.code.ends(name))(self, values, types, True)

    def _finish_call(self, code: FunctionCode, registers: Registers, edge: int, value: Any) -> None:
        write = code.results.get(edge)
        if write is not None:
            write(registers, value)

    def _leave(self) -> End | None:
        """After a return: the blocks of the function die, its result goes to the caller."""
        value, self.returned = self.returned, None
        self._end_blocks()
        if not self.frames:
            self.running, self.result = False, value
            return Returned(None if isinstance(value, tuple) else value)
        frame = self.frames.pop()
        self.current, self.registers, self.blocks = frame.code, frame.registers, frame.blocks
        self.location = frame.code.targets[frame.edge]
        self.last_call = frame.edge
        try:
            self._finish_call(frame.code, frame.registers, frame.edge, value)
        except ViolationError:  # the call stores its result: that is one more step, at the call
            self.location = frame.code.edges[frame.edge].source
            self.step += 1
            raise
        return None

    def _end_blocks(self) -> None:
        for block in self.blocks:
            self.memory.forget(block, self._remains_of(block, "function has returned"))
        self.blocks = []

    def end_locals(self, registers: Registers, slots: tuple[int, ...]) -> None:
        """The block of these variables of the current function is left; where it is entered again, there are new ones."""
        for slot in slots:
            address = registers[slot]
            if address is not None and (block := self.memory.find(address)) is not None:
                registers[slot] = None
                self.blocks.remove(block)
                self.memory.forget(block, self._remains_of(block, "block has ended"))

    def _remains_of(self, block: Block, ended: str) -> Block:
        key = block.name, ended
        if key not in self._remains:
            remains = Block("local", block.name, 0, UNDEFINED)
            remains.alive, remains.ended = False, ended
            self._remains[key] = remains
        return self._remains[key]

    def remember(self, buffer: int, registers: Registers, edge: int) -> None:
        """`setjmp`."""
        self._jumps[buffer] = len(self.frames), registers, edge
        self.returned = _SETJMP

    def _jump(self, jump: JumpError) -> None:
        depth, registers, edge = self._jumps.get(jump.buffer, (-1, [], 0))
        frames = [*(frame.registers for frame in self.frames), self.registers]
        if not 0 <= depth < len(frames) or frames[depth] is not registers:
            not_modelled("longjmp to where no function runs that called setjmp")
        while len(self.frames) > depth:
            self._end_blocks()
            frame = self.frames.pop()
            self.current, self.registers, self.blocks = frame.code, frame.registers, frame.blocks
        self.begun = [one for one in self.begun if one.registers is not registers]
        self.location = self.current.targets[edge]
        self._finish_call(self.current, registers, edge, jump.value or 1)

    # what the code of functions asks for

    def code_of(self, name: str) -> FunctionCode:
        """The code of a defined function."""
        found = self.code.compiled.get(name)
        if not isinstance(found, FunctionCode):
            found = self.code.compiled[name] = FunctionCode(self.code, self.code.functions[name])
        return found

    def function_at(self, address: int) -> str:
        """The function that a pointer points to; anything else is a violation."""
        name = self.code.static.name_at(address >> self.memory.shift)
        if name is not None and self.code.static.addresses[name] == address and name not in self.code.globals:
            return name
        self.memory.block(address, 1, "call")
        not_modelled("a call through a pointer to what is no function")

    def new_local(self, registers: Registers, local: Local) -> int:
        """Makes a local variable, and returns its address."""
        self.look_only()
        self.memory.make_room(local.size)
        block = Block("local", display_name(local.name), local.size, UNDEFINED, local.type)
        registers[local.slot] = address = self.memory.add(block)
        self.blocks_of(registers).append(block)
        return address

    def blocks_of(self, registers: Registers) -> list[Block]:
        """The blocks of the function that has these registers."""
        if registers is self.registers:
            return self.blocks
        return next(frame.blocks for frame in self.frames if frame.registers is registers)

    def literal(self, data: bytes) -> int:
        """The address of a string literal; equal ones are one object."""
        address = self._literals.get(data)
        if address is None:
            self.look_only()
            block = Block("literal", "string literal", len(data), KNOWN)
            block.data[:] = data
            address = self._literals[data] = self.memory.add(block)
        return address

    def errno(self) -> int:
        """The address of `errno`, which is 0 at the start."""
        if self._errno == 0:
            mask = ASKED if self._is_errno_open else KNOWN
            self._errno = self.memory.add(Block("global", ERRNO, 4, mask, INT))
        return self._errno

    def errno_may_change(self) -> None:
        """A function of the library runs: what `errno` holds from now on is an input."""
        self._is_errno_open = True
        if self._errno != 0:
            overwritten(self, self._errno, 4)

    def print(self, text: str) -> None:
        """Keeps what is printed, up to the bound."""
        left = self.bounds.output - self._printed_length
        if left > 0:
            self.printed.append(text[:left])
            self._printed_length += len(text)

    def _missing(self, page: int) -> Block | None:
        """The static object that a page belongs to, made when it is first touched."""
        name = self.code.static.name_at(page)
        if name is None:
            return None
        with self.no_peek():  # static objects are always there
            return static_block(self, name)


_SETJMP = object()  # what `returned` is while `setjmp` returns for the first time
