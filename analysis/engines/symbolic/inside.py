"""Runs that begin at the function with the violation, in the middle of a program's life: arguments, variables with static storage
and memory hold whatever the violation needs.

Such a run shows what the violation requires of the function's callers. It confirms nothing: the program may never get there so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.cfa.bit_layout import BitLayout
from analysis.cfa.graph import Program
from analysis.engines.symbolic.candidates import Candidates
from analysis.engines.symbolic.choices import MakeInputs
from analysis.engines.symbolic.random_inputs import constants_of, random_inputs, words_of
from analysis.engines.symbolic.runs import LEAKS, Attempts
from analysis.engines.symbolic.task import Target
from analysis.interpreter.inputs import Fresh, InputValue, Object, Question
from analysis.interpreter.outcome import Replayed, Start, Step
from analysis.model import clock
from analysis.model.c_types import Array, DataModel, Pointer, Record, Type
from analysis.model.spelling import display_name

_RUNS = 8  # on inputs that were not computed
_STEPS = 5_000  # of each of them
_NAMED = 3  # inputs that are named


class Inside:
    """Looks for runs from the entry of the target's function. `functions` are those that the last one went through."""

    def __init__(self, program: Program, target: Target, model: DataModel, candidates: Candidates, attempts: Attempts) -> None:
        self._program = program
        self._target = target
        self._model = model
        self._candidates = candidates
        self._attempts = attempts
        self.functions: tuple[str, ...] = (target.function,)

    def happens(self, paths: Sequence[Sequence[Step]], deadline: float) -> str:
        """How it comes about from the entry of its function, in words; empty if no such run is found until the deadline (of
        `model.clock`). `paths` are paths that may lead there."""
        function = self._target.function
        start = Start(function, any_globals=True, data_model=self._model)
        for make in self._inputs(paths, deadline):
            _, replayed = self._attempts.run(start, make, _STEPS)
            if replayed is not None:
                self.functions = tuple(dict.fromkeys(step.function for step in replayed.steps))
                given = self._given(replayed)
                return f"from the entry of {display_name(function)} it happens" + (f" with {given}" if given else "")
        return ""

    def _inputs(self, paths: Sequence[Sequence[Step]], deadline: float) -> Iterator[MakeInputs]:
        function = self._target.function
        for path in paths:
            if clock.spent() > deadline:
                return
            for found in self._candidates.ask(function, path):
                if found.make is not None:
                    yield found.make
        constants, words = constants_of(self._program, [function]), words_of(self._program, [function])
        for make in random_inputs(constants, words, self._model.pointer_bits // 8, _RUNS):
            if clock.spent() > deadline:
                return
            yield make

    def _given(self, replayed: Replayed) -> str:
        """The inputs that the violation is about, as far as its rule says, in the order of the run; each once."""
        if self._target.rule in LEAKS:
            return ""
        found: dict[str, None] = {}
        objects: list[tuple[str, Type]] = []
        for question, value in replayed.asked:
            name = self._named(question, objects)
            if isinstance(value, Fresh):
                objects.append((name, question.type.target if isinstance(question.type, Pointer) else question.type))
            elif question.kind in ("parameter", "memory", "result") and self._matters(question, value):
                shown = "NULL" if isinstance(question.type, Pointer) and value == 0 else str(value)
                found.setdefault(f"{name} == {shown}")
        return ", ".join([*found][:_NAMED])

    def _matters(self, question: Question, value: InputValue) -> bool:
        if isinstance(value, Object):
            return False
        is_null = isinstance(question.type, Pointer) and value == 0
        match self._target.rule:
            case "null-dereference":
                return is_null
            case "division-by-zero":
                return value == 0 and not is_null
        return is_null or not isinstance(question.type, Pointer)

    def _named(self, question: Question, objects: Sequence[tuple[str, Type]]) -> str:
        """The name of the value that a question asks for, as a person would write it."""
        if question.kind == "result":
            return f"{question.name}()"
        if question.kind != "memory":
            return question.name
        word, _, number = question.name.partition(" ")
        if word == "fresh" and number.isdigit() and int(number) < len(objects):
            pointer, type_ = objects[int(number)]
            return _member(pointer, type_, question.offset, BitLayout.of(self._program, self._model), is_pointer=True)
        known = self._program.globals.get(question.name)
        if known is not None:
            layout = BitLayout.of(self._program, self._model)
            return _member(display_name(question.name), known.var.type, question.offset, layout, is_pointer=False)
        name = display_name(question.name)
        return f"{name} at byte {question.offset}" if question.offset else name


def _member(name: str, type_: Type, offset: int, layout: BitLayout, *, is_pointer: bool) -> str:
    """What is at an offset in bytes of an object, or of what a pointer leads to."""
    size = layout.bytes(type_)
    if is_pointer and size and offset >= size:
        name, offset, is_pointer = f"{name}[{offset // size}]", offset % size, False
    match type_:
        case Record():
            definition = layout.definition(type_)
            for member in definition.members if definition is not None and definition.kind == "struct" else ():
                start, width = layout.member(type_, member.name, member.type), layout.bytes(member.type)
                if member.name and start is not None and width and start // 8 <= offset < start // 8 + width:
                    inner = f"{name}{'->' if is_pointer else '.'}{member.name}"
                    return _member(inner, member.type, offset - start // 8, layout, is_pointer=False)
        case Array(element):
            width = layout.bytes(element)
            if width:
                return _member(f"{name}[{offset // width}]", element, offset % width, layout, is_pointer=False)
    whole = f"*{name}" if is_pointer else name
    return f"{whole} at byte {offset}" if offset else whole


def activation(program: Program, target: Target, path: Sequence[Step]) -> Sequence[Step] | None:
    """The part of a path from the last entry into the target's function to just before the target; None if there is none."""
    cfa = program.functions[target.function]
    before = path[:-1] if path and path[-1] == Step(target.function, target.edge) else path
    starts = [i for i, s in enumerate(before) if s.function == cfa.name and cfa.by_id[s.edge].source == cfa.entry]
    if starts:
        return before[starts[-1] :]
    return () if cfa.by_id[target.edge].source == cfa.entry else None
