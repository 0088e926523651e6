"""Runs in which nearly everything goes well, and one thing or another does not: fault injection, guided by a claimed path.

The first run has a system that works: memory is found, functions give 0 or an object, `main` is called without words, strings
are empty. Each question that a run asked is a place where another run can differ: there an allocation fails, a pointer is null, a
number is another one, such as one that the claimed path compares with. A run takes steps of the claimed path, with others in
between, and leaves out some. The run that took most is varied next, and there the questions next to where it left out something
come first. Random inputs hardly find these runs: something fails in them long before.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from analysis.c.functions import Function, known
from analysis.cfa.graph import Program
from analysis.engines.symbolic.choices import ELEMENTS
from analysis.engines.symbolic.command_line import CommandLine
from analysis.interpreter.inputs import Fresh, Inputs, InputValue, Question
from analysis.interpreter.outcome import Step
from analysis.model import ir
from analysis.model.c_types import CHAR, Floating, Pointer


class Text(NamedTuple):
    """The answer to what the first character of a string is, with those that follow it."""

    characters: bytes


Fault = InputValue | Text
Faults = tuple[tuple[int, Fault], ...]
"""By the number of the question, in a run's order: the answer that is not the usual one."""

_ROUNDS = 4  # times that a place is answered as usual; then it says what ends most loops
_END = -1  # such as EOF
_STANDARD = 2  # the last of the descriptors that are open when a program begins
_MOST = 10  # faults in one run
_ANSWERS = 5_000  # in one run
_COMPARED = 6  # numbers that the claimed path compares with, that are tried as results
_NEAR = 8  # questions before a place where a run leaves the path, that come before others


class Faulty:
    """Usual answers, but for these faults. `questions` are those that were asked, `settled` the numbers of those that have one
    answer: where the words of the command line are, and where they end, follows from how many there are."""

    def __init__(self, faults: Faults, pointer_bytes: int) -> None:
        self._faults = dict(faults)
        self._asked: Counter[tuple[str, int]] = Counter()
        self._command_line = CommandLine(pointer_bytes)
        self._descriptors = 0
        self._texts: dict[str, bytes] = {}  # by the name of the object that holds it
        self.questions: list[Question] = []
        self.settled: set[int] = set()

    def answer(self, question: Question) -> InputValue | None:
        """The value for the question; none after so many that the run only reads on and on."""
        number = len(self.questions)
        if number >= _ANSWERS and question.kind not in ("allocation", "written") and not question.held:
            return None
        self.questions.append(question)
        if self._command_line.is_asked(question):
            self.settled.add(number)
        value = self._faults[number] if number in self._faults else self._usual(question)
        if isinstance(value, Text):
            self._texts[question.name] = value.characters
            value = value.characters[0]
        return self._command_line.noted(question, value)

    def _usual(self, question: Question) -> InputValue | None:
        if question.kind in ("allocation", "written") or question.held:
            return None
        if isinstance(question.type, Pointer):
            return self._pointer(question)
        if isinstance(question.type, Floating):
            return 0.0
        if question.kind == "parameter":
            return 1
        if question.kind == "memory" and question.name in self._texts:
            return next(iter(self._texts[question.name][question.offset :]), 0)
        function = known(question.name) if question.kind == "result" else None
        if function is not None and function.result == "descriptor":
            self._descriptors += 1
            return _STANDARD + self._descriptors
        if function is not None and "fails-unchanged" in function.besides and function.written:
            return -1  # what it would write, no run is believed about
        place = question.function, question.edge
        self._asked[place] += 1
        return 0 if question.kind != "result" or self._asked[place] <= _ROUNDS else _END

    def _pointer(self, question: Question) -> InputValue:
        """An object; what is behind the last word of a list of words, and what memory holds of other pointers, is null."""
        if question.kind == "memory":
            return self._command_line.word(question) if self._command_line.is_asked(question) else 0
        return Fresh(ELEMENTS) if question.kind in ("parameter", "result") else 0


def _can_return(function: Function, value: int) -> bool:
    """Whether a function of the library can return a number: no run is believed about any other."""
    least = 0 if "size_t" in function.besides else function.least
    return (least is None or least <= value) and (function.greatest is None or value <= function.greatest)


def others(question: Question, compared: Sequence[int] = (), texts: Sequence[bytes] = ()) -> tuple[Fault, ...]:
    """The answers that are tried instead of the usual one. `compared`: numbers that results may be compared with; `texts`: the
    same of strings."""
    match question.kind:
        case "allocation":
            return (0,)
        case "written" | "expression" | "indeterminate":
            return ()
    if isinstance(question.type, Pointer):
        return (0,) if question.kind != "memory" else (Fresh(ELEMENTS),)
    if isinstance(question.type, Floating):
        return ()
    function = known(question.name) if question.kind == "result" else None
    if function is not None and function.result == "descriptor":
        return (-1,)
    if question.kind == "result":
        return tuple(one for one in dict.fromkeys((1, -1, *compared)) if function is None or _can_return(function, one))
    if question.kind == "memory":  # such as a character that was read
        is_first = question.offset == 0 and question.type == CHAR
        strings = map(Text, texts) if is_first else ()
        return (*strings, *dict.fromkeys((1, *(one for one in compared if one > 0))))
    return (3, 2)


def compared_on(program: Program, path: Sequence[Step]) -> tuple[int, ...]:
    """The numbers that branches of a path compare with, those next to its end first: what a function of the system must answer
    for a run to take the path is mostly one of them, such as the character that a parser looks for. Steps that an edit has taken
    out of the program are passed over: the path is only a hint."""
    found: dict[int, None] = {}
    for step in reversed(path):
        cfa = program.functions.get(step.function)
        edge = None if cfa is None else cfa.by_id.get(step.edge)
        if edge is not None and isinstance(edge.effect, ir.Assume):
            parts = (part for expr in ir.expressions(edge.effect) for part in ir.walk(expr))
            found.update(dict.fromkeys(part.value for part in parts if isinstance(part, ir.IntConst)))
    found.pop(0, None)  # the usual answer
    return tuple(found)[:_COMPARED]


Recipe = Callable[[], Inputs]
Numbered = tuple[int, Question]
Tell = Callable[[Sequence[Step]], None]


def faulty_inputs(
    path: Sequence[Step],
    pointer_bytes: int,
    most: int,
    compared: Sequence[int] = (),
    texts: Callable[[str], Sequence[bytes]] = lambda _: (),
) -> Iterator[tuple[Recipe, Tell]]:
    """At most so many inputs, each as a recipe that makes the same ones again, with what is to be told of the run: its steps.
    `path` is what is claimed to lead to the violation, `compared` what results may be besides (`compared_on`), `texts` what
    strings may be, by the name of the function that looks at them (`compared_texts`)."""
    waiting: list[tuple[int, int, int, int, Faults]] = [(0, 0, 0, 0, ())]
    pushed = 0
    for _ in range(most):
        if not waiting:
            return
        *_, faults = heapq.heappop(waiting)
        first = Faulty(faults, pointer_bytes)
        told: list[Sequence[Step]] = []
        yield _recipe(first, faults, pointer_bytes), told.append
        if not told or len(faults) == _MOST:
            continue
        taken, left = followed(path, told[0])
        after = faults[-1][0] + 1 if faults else 0
        numbered = [one for one in enumerate(first.questions) if one[0] >= after and one[0] not in first.settled]
        nearest = sorted(ranked(numbered, left or (len(told[0]),)), key=itemgetter(0))
        varied = (
            (rank, (number, value))
            for rank, (number, question) in nearest
            for value in others(question, compared, texts(question.function))
        )
        for rank, fault in islice(varied, most):  # there are no more runs
            pushed += 1
            heapq.heappush(waiting, (-taken, len(faults), rank, pushed, (*faults, fault)))


def ranked(questions: Sequence[Numbered], left: Sequence[int]) -> list[tuple[int, Numbered]]:
    """The questions with a rank each, low ones first. In turn come those next to the first of these steps, and those next to the
    others, of which the last step comes first; then all other questions. Next to a step, every third one is behind it."""
    later = left[:0:-1]
    ranks = [(2 * far, at) for far, at in _next_to(questions, left[0])]
    for place, step in enumerate(later):
        ranks += [(2 * (far * len(later) + place) + 1, at) for far, at in _next_to(questions, step)]
    found = {at: rank for rank, at in sorted(ranks, reverse=True)}  # of several ranks of a question, the lowest one
    most = 4 * _NEAR * len(left)
    return [(found.get(at, most + len(questions) - at), one) for at, one in enumerate(questions)]


def _next_to(questions: Sequence[Numbered], step: int) -> Iterator[tuple[int, int]]:
    """How far away the questions next to a step are, the nearest one 0, and where they are in the sequence."""
    behind = next((at for at, (_, question) in enumerate(questions) if question.step > step), len(questions))
    for far, at in enumerate(reversed(range(behind)[-_NEAR:])):
        yield far + far // 2, at
    for far, at in enumerate(range(len(questions))[behind : behind + _NEAR // 3]):
        yield 3 * far + 2, at


def _recipe(first: Faulty, faults: Faults, pointer_bytes: int) -> Recipe:
    """Makes inputs with these faults, the first time the ones that are there."""
    made = [first]
    return lambda: made.pop() if made else Faulty(faults, pointer_bytes)


def followed(path: Sequence[Step], steps: Sequence[Step]) -> tuple[int, tuple[int, ...]]:
    """How many steps of a path a run took, in their order and with others in between; and after which of its own steps it left
    out some of the path. Most of these do not matter: a claimed path has one side of each branch, where often both would do."""
    places: dict[Step, list[int]] = {}
    for number, step in enumerate(steps):
        places.setdefault(step, []).append(number)
    taken, here, left = 0, -1, dict[int, None]()
    for step in path:
        known = places.get(step, ())
        at = bisect_right(known, here)
        if at < len(known):
            taken, here = taken + 1, known[at]
        elif here >= 0:
            left[here] = None
    return taken, tuple(left)
