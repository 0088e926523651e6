"""Random inputs for runs, as fuzzers make them: numbers and words that the program mentions are among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.engines.symbolic.choices import ELEMENTS
from analysis.engines.symbolic.command_line import CommandLine
from analysis.engines.symbolic.system_records import LONGEST_NAME, SLASH, is_file_name
from analysis.frontend.declarations.literal_values import string_bytes
from analysis.interpreter.inputs import Fresh, InputValue, Question
from analysis.model import ir
from analysis.model.c_types import DataModel, Floating, Integer, Pointer

_WORD = 16  # characters of a text that may be a word, with the zero at its end
Range = Literal["small", "mentioned", "any"]
"""Which numbers the inputs of one run are: small ones, those that the program mentions, or any."""
_RANGES: tuple[Range, ...] = ("small", "small", "any", "any", "mentioned")
_PLAIN = 0.5  # how many words of the command line are numbers, or ones that the program mentions
_NUMBERS = (b"0", b"1", b"3", b"9", b"12", b"-1", b"100")
_NEVER_GIVEN = b"%\n"  # formats and messages are not what a program is called with
_COUNTS = (1, 1, 2, 2, 3, 4, 5, 8)  # of words that `main` is called with
_WORKING = (0.5, 0.9, 0.99)  # how often all is read that was asked for
_LENGTHS = (8, 30, 100, 300)  # characters of a line, on average
_SPECIAL = (0.03, 0.15, 0.4)  # how many characters are ones that the program mentions
_NEWLINE, _LETTER = 10, ord("x")
_MOST = 2_000  # answers in one run
_MUCH, _ALL_OF_MUCH = 100, 0.1  # bytes in one go, and how often all of more than that are read
_TEXT = b"abcxyzABZ0123456789019  ,.;:=-+/*_()[]{}<>\"'#%&\t"
_INTERESTING = (0, 1, -1, 2, 3, 4, 5, 7, 8, 10, 16, 100, 127, 128, 255, 256, 1000)


class Random:
    """Random values: small ones, ones that the program compares with, and any; allocations fail sometimes. `main` is called with
    a few words. Characters are like other numbers, or make texts as people write them, with words that the program knows."""

    def __init__(self, seed: int, constants: Sequence[int], words: Sequence[bytes] = (), pointer_bytes: int = 8) -> None:
        self._random = random.Random(seed)
        self._constants = constants
        self.range: Range = self._random.choice(_RANGES) if constants else self._random.choice(("small", "any"))
        self._fails = self._random.random() < 0.3
        self._is_text = seed % 2 == 0
        self._words = words
        plain = [word for word in words if not any(one in word for one in _NEVER_GIVEN)]
        self._given = (*_NUMBERS, *plain, *plain)  # those that it mentions twice as often
        self._left = _MOST
        self._word: list[int] = []  # the characters that come next, the first one last
        self._works = self._random.choice(_WORKING)
        self._length = self._random.choice(_LENGTHS)
        self._special = self._random.choice(_SPECIAL)
        self._characters = [one for one in constants if 0 < one < 256 and one != _NEWLINE]
        self._command_line = CommandLine(pointer_bytes)
        self._made = _Made()

    def answer(self, question: Question) -> InputValue | None:
        """A value for the question; none after so many that the run only reads on and on."""
        self._left -= 1
        if self._left < 0 and question.kind not in ("allocation", "written") and not question.held:
            return None
        answer = self._answer(question)
        self._made.noted(question, answer, is_word=self._command_line.is_asked(question))
        return self._command_line.noted(question, answer)

    def _answer(self, question: Question) -> InputValue | None:
        draw = self._random
        if question.kind == "written" or question.held:
            return None
        if question.kind == "allocation":
            return int(not (self._fails and draw.random() < 0.3))
        if isinstance(question.type, Pointer):
            if self._command_line.is_asked(question):
                return self._command_line.word(question)
            is_object = question.kind == "parameter" or (question.kind in ("result", "memory") and draw.random() < 0.8)
            return Fresh(ELEMENTS) if is_object else 0
        if question.kind == "parameter" and question.function == MAIN:
            return draw.choice(_COUNTS)
        if isinstance(question.type, Floating):
            return float(draw.choice((0, 1, -1, 0.5, 2, 10, 1e6)))
        if self._is_text and _is_character(question):
            return self._in_text(question)
        if question.greatest is not None and draw.random() < self._works:
            is_much = question.greatest > _MUCH and draw.random() > _ALL_OF_MUCH
            return draw.randrange(1, _MUCH) if is_much else question.greatest
        return self._integer(draw)

    def _integer(self, draw: random.Random) -> int:
        kind = draw.random()
        if self.range == "mentioned":
            return draw.choice(self._constants)
        if self.range == "small" or kind < 0.3:
            return draw.randrange(0, 4)
        if kind < 0.5:
            return draw.choice(_INTERESTING)
        if kind < 0.85 and self._constants:
            return draw.choice(self._constants) + draw.choice((0, 0, 0, 1, -1))
        return draw.getrandbits(32)

    def _in_text(self, question: Question) -> int:
        """A character, where it is asked for one of a text."""
        if self._made.is_begun_word(question) and self._random.random() < _PLAIN:
            self._word = [0, *reversed(self._random.choice(self._given))]
        return 0 if self._made.is_end_of_text(question) else self._made.as_asked(question, self._character(self._random))

    def _character(self, draw: random.Random) -> int:
        """The next character of a text."""
        if self._word:
            return self._word.pop()
        kind = draw.random()
        if kind < 1 / self._length:
            return draw.choice((0, _NEWLINE))
        if kind > 1 - self._special / 3 and self._words:
            self._word = list(reversed(draw.choice(self._words)))
            return self._word.pop()
        if kind > 1 - self._special and self._characters:
            return draw.choice(self._characters)
        return draw.choice(_TEXT)


class _Made:
    """The objects that a run was given, by what they hold: `words` of the command line, `texts`, names of files."""

    def __init__(self) -> None:
        self._count = 0
        self._words: set[str] = set()
        self._texts: set[str] = set()
        self._file_names: dict[str, int] = {}  # with how many characters were asked for

    def noted(self, question: Question, answer: InputValue | None, *, is_word: bool) -> None:
        """Notes what an answer makes."""
        if not isinstance(answer, Fresh):
            return
        name = f"fresh {self._count}"
        self._count += 1
        target = question.type.target if isinstance(question.type, Pointer) else None
        if isinstance(target, Integer) and target.bits == 8:
            self._texts.add(name)
        if is_word:
            self._words.add(name)
        if question.kind == "result" and is_file_name(question.name):
            self._file_names[name] = 0

    def is_begun_word(self, question: Question) -> bool:
        """Whether it is asked for the first character of a word."""
        return question.kind == "memory" and question.offset == 0 and question.name in self._words

    def is_end_of_text(self, question: Question) -> bool:
        """Whether it is asked for the last character that there is room for: texts end."""
        return question.kind == "memory" and question.offset == ELEMENTS - 1 and question.name in self._texts

    def as_asked(self, question: Question, character: int) -> int:
        """The character, or another one where it is asked for one of the name of a file that cannot have it."""
        at = self._file_names.get(question.name) if question.kind == "memory" else None
        if at is None:
            return character
        self._file_names[question.name] = at + 1
        if at >= LONGEST_NAME:
            return 0
        return _LETTER if character == SLASH or (character == 0 and at == 0) else character


def _is_character(question: Question) -> bool:
    """Whether the answer is a character, of a text or as `getchar` returns it."""
    if not isinstance(question.type, Integer):
        return False
    return question.type.bits == 8 or (question.least, question.greatest) == (-1, 255)


def constants_of(program: Program, functions: Sequence[str], most: int = 400) -> tuple[int, ...]:
    """The integers that the functions mention, in order, each once."""
    found: dict[int, None] = {}
    for name in functions:
        for parts in program.functions[name].parts.values():
            for part in parts:
                if isinstance(part, ir.IntConst) and isinstance(part.type, Integer):
                    found.setdefault(part.value)
        if len(found) > most:
            break
    return tuple(found)


def words_of(program: Program, functions: Sequence[str], most: int = 200) -> tuple[bytes, ...]:
    """The short texts that the functions mention, such as commands and keys, in order, each once."""
    found: dict[bytes, None] = {}
    for name in functions:
        for parts in program.functions[name].parts.values():
            for part in parts:
                text = string_bytes(part.text) if isinstance(part, ir.StringConst) else None
                if text is not None and 1 < len(text) <= _WORD:
                    found.setdefault(text[:-1])
        if len(found) > most:
            break
    return tuple(found)


def random_inputs(
    constants: Sequence[int], words: Sequence[bytes], pointer_bytes: int, most: int
) -> Iterator[Callable[[], Random]]:
    """Random inputs, each as a recipe that makes the same ones again. They depend on the constants and words alone: what is found
    must not depend on the folder that a program lies in, nor on an edit elsewhere."""
    for number in range(1, most + 1):
        yield lambda number=number: Random(number, constants, words, pointer_bytes)  # type: ignore[misc]  # the default binds it


def mentioned_inputs(program: Program, model: DataModel, most: int) -> Iterator[Callable[[], Random]]:
    """Random inputs with numbers and words that the program mentions."""
    functions = list(program.functions)
    return random_inputs(constants_of(program, functions), words_of(program, functions), model.pointer_bits // 8, most)
