"""The words that `main` is called with in a run (C11 5.1.2.2.1): so many as the count says, then a null pointer."""

from __future__ import annotations

from analysis.engines.symbolic.choices import ELEMENTS
from analysis.interpreter.inputs import Fresh, InputValue, Question
from analysis.model.c_types import Integer, Pointer, Type


class CommandLine:
    """The words that `main` is called with, by the answers of a run. `count`: how many there are, once it is known.
    `vectors`: the names of the objects that hold them."""

    def __init__(self, pointer_bytes: int) -> None:
        self._pointer_bytes = pointer_bytes
        self._made = 0
        self.vectors: set[str] = set()
        self.count: int | None = None

    def noted(self, question: Question, value: InputValue | None) -> InputValue | None:
        """The answer, which is noted."""
        if question.kind == "parameter" and isinstance(question.type, Integer) and isinstance(value, int) and self.count is None:
            self.count = value
        if isinstance(value, Fresh):
            if question.kind == "parameter" and _is_list(question.type):
                self.vectors.add(f"fresh {self._made}")
            self._made += 1
        return value

    def is_asked(self, question: Question) -> bool:
        """Whether it is asked for one of the words, and it is known how many there are."""
        return self.count is not None and question.kind == "memory" and question.name in self.vectors

    def is_end(self, question: Question) -> bool:
        """Whether it is asked for what is behind the last word."""
        return self.is_asked(question) and question.offset // self._pointer_bytes == self.count

    def word(self, question: Question) -> InputValue:
        """The word, or the null pointer behind the last one."""
        return 0 if self.is_end(question) else Fresh(ELEMENTS)

    def agrees(self, question: Question, value: InputValue) -> bool:
        """Whether a system gives the answer to this question for a word: each is an object of its own, only what is behind the
        last one is null, and nothing is known of what comes then."""
        at = question.offset // self._pointer_bytes
        return self.count is not None and at <= self.count and (value == 0 if at == self.count else isinstance(value, Fresh))


def _is_list(type_: Type) -> bool:
    """Whether it is a type of pointers to pointers, as the words are passed in."""
    return isinstance(type_, Pointer) and isinstance(type_.target, Pointer)
