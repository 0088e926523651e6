"""What a run asks its inputs for, and what becomes of the answers: scalars, and new objects that inputs point to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import msgspec

from analysis.c.conversions import int_to_float, round_to_float
from analysis.interpreter.function_code import FunctionCode
from analysis.interpreter.halting import EndError, ViolationError, not_modelled
from analysis.interpreter.input_lines import end_at_newline
from analysis.interpreter.inputs import Fresh, Inputs, InputValue, Object, Question, QuestionKind
from analysis.interpreter.memory import ASKED, Block, BlockKind, Memory
from analysis.interpreter.outcome import NoInput, Step
from analysis.interpreter.program_code import ProgramCode
from analysis.interpreter.scalars import converter
from analysis.interpreter.unknown_bytes import parts_of, unsigned
from analysis.model.c_types import DOUBLE, Floating, Integer, Pointer, Type, Void, spell
from analysis.model.ranges import wrapped
from analysis.model.spelling import display_name


class Questions:
    """The part of the machine that asks. It knows where the run is: the function, the location, and how many edges it took."""

    current: FunctionCode

    def __init__(self, code: ProgramCode, memory: Memory, inputs: Inputs, any_value: bool) -> None:
        self.code = code
        self.memory = memory
        self.location = 0
        self.step = 0
        self.asked: list[tuple[Question, InputValue]] = []
        self.assumptions: dict[str, None] = {}
        self.fresh: list[int] = []
        self.peeking = False
        memory.ask = self._ask_bytes
        memory.note = self.assume
        memory.any_value = any_value
        self._inputs = inputs
        self._numbers: dict[str, int] = {}
        self._numbered: dict[QuestionKind, int] = {}
        self._numbered_at = -1

    @contextmanager
    def peek(self) -> Iterator[None]:
        """While values are only looked at: nothing is asked for, no object comes to be."""
        any_value, self.memory.any_value, self.peeking, self.memory.looking = self.memory.any_value, False, True, True
        try:
            yield
        finally:
            self.memory.any_value, self.peeking, self.memory.looking = any_value, False, False

    @contextmanager
    def no_peek(self) -> Iterator[None]:
        """While something is made that is there whether it is looked at or not."""
        peeking, self.peeking = self.peeking, False
        try:
            yield
        finally:
            self.peeking = peeking

    def look_only(self) -> None:
        """Called by what is not done while values are only looked at."""
        if self.peeking:
            not_modelled("nothing is there yet to be looked at")

    def assume(self, text: str) -> None:
        """Notes what the run takes for given."""
        self.assumptions.setdefault(text)

    def indeterminate(self, name: str, type_: Type) -> Any:
        """The value of a variable that has none: a violation, or an input."""
        if not self.memory.any_value or self.peeking:
            raise ViolationError("uninitialized-read", f"`{name}` is read before it has a value")
        self.assume(f"{name} is read before it has a value")
        return self.ask("indeterminate", type_, name, 0)

    def new_block(self, kind: BlockKind, size: int, fill: int, type_: Type | None = None) -> int:
        """The address of a new object on the heap, or of another that is known by number."""
        self.memory.make_room(size)
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        names = {"heap": "heap block", "resource": "resource", "literal": "literal"}
        name = f"fresh {number - 1}" if kind == "given" else f"{names.get(kind, kind)} {number}"
        block = Block(kind, name, size, fill, type_)
        if kind in ("heap", "resource"):
            block.made = self.open_calls()
        return self.memory.add(block)

    def open_calls(self) -> tuple[Step, ...]:
        """The calls that are open, the innermost first, as far as they are kept."""
        return (Step(self.current.name, self.edge_here()),)

    def store(self, type_: Type, address: int, value: Any) -> None:
        """Stores a value of the type."""
        self.current.expressions.store(type_)(self.memory, address, value)

    def edge_here(self) -> int:
        """The id of the edge that is being executed (of a branch, the first one's), -1 before the first."""
        edges = self.current.cfa.outgoing.get(self.location, ())
        return edges[0].id if edges and self.step else -1

    def question(
        self, kind: QuestionKind, type_: Type, name: str, offset: int, least: int | None = None, greatest: int | None = None
    ) -> Question:
        """The next question of a kind at this step."""
        self.look_only()
        step = max(0, self.step - 1)
        if self._numbered_at != step:
            self._numbered, self._numbered_at = {}, step
        number = self._numbered.get(kind, 0)
        self._numbered[kind] = number + 1
        return Question(kind, type_, name, offset, self.current.name, self.edge_here(), step, number, least, greatest)

    def optional(self, kind: Literal["allocation", "written"], type_: Type, name: str, offset: int) -> Any:
        """The answer to a question that need not have one, as a value of the type."""
        question = self.question(kind, type_, name, offset)
        answer = self._inputs.answer(question)
        return None if answer is None else self._noted(question, answer)

    def ask(
        self, kind: QuestionKind, type_: Type, name: str, offset: int, least: int | None = None, greatest: int | None = None
    ) -> Any:
        """The answer to a question, as a value of the type, and between the bounds."""
        if kind == "expression" and not self.peeking:
            self.assume(f"a value of type {spell(type_)} that is not modelled, in {display_name(self.current.name)}")
        question = self.question(kind, type_, name, offset, least, greatest)
        answer = self._inputs.answer(question)
        if answer is None:
            raise EndError(NoInput(question))
        return self._noted(question, answer)

    def held(self, type_: Type, value: Any) -> Any:
        """What a `volatile` object holds that was read as this value: that, unless the inputs say that something outside of the
        program has changed it."""
        question = msgspec.structs.replace(self.question("expression", type_, "", 0), held=True)
        answer = self._inputs.answer(question)
        if answer is None:
            return value
        self.assume(f"a value of type {spell(type_)} that is not modelled, in {display_name(self.current.name)}")
        return self._noted(question, answer)

    def _noted(self, question: Question, answer: InputValue) -> Any:
        """The answer as a value of the question's type. That value is what the run has asked for, not the number as it was given:
        -5 is what an `int` is, whoever says 4294967291."""
        if isinstance(answer, Fresh | Object):
            self.asked.append((question, answer))
            return self._taken(answer, question.type)
        value = self._taken(answer, question.type)
        value = question.within(value) if isinstance(value, int) else value
        self.asked.append((question, answer if value is None else value))
        return value

    def _taken(self, answer: InputValue, type_: Type) -> Any:
        if isinstance(answer, Fresh):
            return self._fresh_object(answer, type_)
        if isinstance(answer, Object):
            return self._object(answer)
        if isinstance(type_, Floating):
            if isinstance(answer, int):
                return int_to_float(answer, type_.bits)
            return round_to_float(answer) if type_.bits == 32 else answer
        if isinstance(answer, float):
            convert = converter(DOUBLE, type_, self.code.pointer_bits)
            return answer if convert is None else convert(answer)
        return wrapped(answer, type_, self.code.pointer_bits) if isinstance(type_, Integer | Pointer) else answer

    def _fresh_object(self, answer: Fresh, type_: Type) -> int:
        target = type_.target if isinstance(type_, Pointer) else Void()
        size = self.code.size(target)
        if size is None:
            not_modelled(f"a new object of type {spell(target)}, whose size is not known")
        address = self.new_block("given", size * answer.elements, ASKED, target)
        self.fresh.append(address)
        return address

    def _object(self, answer: Object) -> int:
        kind, _, number = answer.name.partition(" ")
        if kind == "fresh" and number.isdigit() and int(number) < len(self.fresh):
            return self.fresh[int(number)] + answer.offset
        address = self.code.static.addresses.get(answer.name)
        if address is None:
            not_modelled(f"an input that points to {answer.name}, which is not there")
        return address + answer.offset

    def _ask_bytes(self, block: Block, offset: int, size: int) -> None:
        """Asks for the bytes of a range that are inputs, by the parts that the block's type has there."""
        for at, type_ in parts_of(self.code, block, offset, size):
            self._ask_part(block, at, type_)
        here = block.mask[offset : offset + size]
        if size in (2, 4, 8) and here == bytes((ASKED,)) * size:
            self._ask_part(block, offset, unsigned(8 * size))
        for at in range(offset, offset + size):
            if block.mask[at] == ASKED:
                self._ask_part(block, at, unsigned(8))

    def _ask_part(self, block: Block, offset: int, type_: Type) -> None:
        size = self.code.size(type_) or 1
        if block.mask[offset : offset + size] != bytes((ASKED,)) * size:
            return
        value = self.ask("memory", type_, block.name, offset)
        fixed, block.fixed = block.fixed, False
        self.store(type_, block.base + offset, value)
        block.fixed = fixed
        if block.line is not None:
            end_at_newline(block, block.line, offset, size)
