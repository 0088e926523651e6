"""Inputs for runs: from a model of a path's formula, and all that there are, one after the other (`random_inputs`: at random)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from analysis.cfa.graph import Cfa, Program
from analysis.interpreter.inputs import Fresh, Inputs, InputValue, Object, Question
from analysis.interpreter.outcome import Step
from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer
from analysis.model.spelling import display_name
from analysis.smt.encoding.numbers.formula import Input
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Model, Value

ELEMENTS = 64
"""How many elements an object has that an argument points to."""

_NEAR = 1 << 20  # addresses this close belong to the same object
_KINDS = {"result": "result", "unknown": "expression", "undefined": "indeterminate", "allocation": "allocation"}
_Place = tuple[str, str, int]


class Solved:
    """Answers what a model chose for the inputs of a path.

    The n-th question at a place of the program gets what the path's n-th input there is (rather than going by the number of the
    step: the run may take edges that the path stepped over). A question that the path does not ask gets 0, but a pointer
    argument, which gets an object of its own.
    """

    def __init__(self, program: Program, path: Sequence[Step], inputs: Sequence[Input], model: Model) -> None:
        self._program = program
        self._queues: dict[_Place, deque[Value]] = {}
        self._parameters: dict[str, Value] = {}
        self._memory: dict[tuple[str, int], Value] = {}
        self._objects: list[int] = []
        terms = [given.term for given in inputs] + [given.address for given in inputs if given.address is not None]
        values = model.values(tuple(term for term in terms if term.sort.kind != "Array"))
        for given in inputs:
            if given.term in values:
                self._take(given, values[given.term], path, values)

    def _take(self, given: Input, value: Value, path: Sequence[Step], values: object) -> None:
        if given.kind == "parameter":
            self._parameters[display_name(given.name)] = value
        elif given.kind == "memory":
            at = _value_of(values, given.address)
            if at is not None:
                self._memory.setdefault((display_name(given.name), at), value)
        elif given.step < len(path):
            step = path[given.step]
            source = self._program.functions[step.function].by_id[step.edge].source
            self._queues.setdefault((_KINDS[given.kind], step.function, source), deque()).append(value)

    def answer(self, question: Question) -> InputValue | None:
        """The value for the question."""
        if question.kind == "written" or question.held:
            return None  # no run is believed in which something outside of the program has changed an object
        found = self._find(question)
        if question.kind == "allocation":
            return None if found is None else int(bool(found))
        if isinstance(question.type, Pointer):
            return self._pointer(question, found)
        if found is None:
            return 0
        if isinstance(question.type, Floating):
            return float(found)
        return int(found)

    def _find(self, question: Question) -> Value | None:
        if question.kind == "parameter":
            return self._parameters.get(question.name)
        if question.kind == "memory":
            name, _, number = question.name.partition(" ")
            if name == "fresh" and number.isdigit() and int(number) < len(self._objects):
                at = self._objects[int(number)] + question.offset
                return next((value for (_, place), value in self._memory.items() if place == at), None)
            return self._memory.get((question.name, question.offset))
        edge = self._program.functions[question.function].by_id.get(question.edge)
        queue = None if edge is None else self._queues.get((question.kind, question.function, edge.source))
        return queue.popleft() if queue else None

    def _pointer(self, question: Question, found: Value | None) -> InputValue:
        if found is None:
            if question.kind != "parameter":
                return 0
            self._objects.append(-1)
            return Fresh(ELEMENTS)
        address = int(found)
        if address == 0:
            return 0
        for number, base in enumerate(self._objects):
            if base >= 0 and 0 <= address - base < _NEAR:
                return Object(f"fresh {number}", address - base)
        self._objects.append(address)
        return Fresh(ELEMENTS)


def _value_of(values: object, term: Term | None) -> int | None:
    found = values.get(term) if isinstance(values, dict) and term is not None else None
    return int(found) if isinstance(found, int) else None


class Chosen:
    """Answers the questions whose answers are few (an allocation, a `_Bool`) from a list of choices; `choices` grows by those
    that were not on the list. `open` says that another question was asked, so that trying all choices does not try all runs;
    `unread` are parameters of the entry whose values do not matter."""

    def __init__(self, choices: Sequence[int], unread: frozenset[str]) -> None:
        self.choices = list(choices)
        self._unread = unread
        self._next = 0
        self.open = False

    def answer(self, question: Question) -> InputValue | None:
        """The next choice."""
        if question.kind == "parameter" and question.name in self._unread:
            return 0
        is_few = question.kind == "allocation" or (isinstance(question.type, Integer) and question.type.name == "_Bool")
        if not is_few or question.kind == "written":
            self.open = True
            return None
        if self._next == len(self.choices):
            self.choices.append(0)
        self._next += 1
        return self.choices[self._next - 1]


class Choosing:
    """Makes the same `Chosen` each time; `first` is the first one that it made."""

    def __init__(self, choices: Sequence[int], unread: frozenset[str]) -> None:
        self._choices, self._unread = tuple(choices), unread
        self.first = Chosen(choices, unread)
        self._made = 0

    def __call__(self) -> Inputs:
        """The inputs, from the first question on."""
        self._made += 1
        return self.first if self._made == 1 else Chosen(self._choices, self._unread)


def unread_parameters(cfa: Cfa) -> frozenset[str]:
    """The names of the parameters that the function does not mention, as a person would write them."""
    mentioned = {part.name for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Var)}
    return frozenset(display_name(p.name) for p in cfa.parameters if p.name not in mentioned)


def next_choices(choices: Sequence[int]) -> list[int] | None:
    """The choices that come after these in the order of the tree; None after the last ones."""
    following = list(choices)
    while following and following[-1] == 1:
        following.pop()
    if not following:
        return None
    following[-1] = 1
    return following


MakeInputs = Callable[[], Inputs]


class NeverFailing:
    """Inputs under which every allocation finds memory."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs

    def answer(self, question: Question) -> InputValue | None:
        """No answer for an allocation, which then succeeds."""
        return None if question.kind == "allocation" else self._inputs.answer(question)
