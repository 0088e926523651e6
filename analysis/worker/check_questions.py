"""Questions about the last check that are answered at once: contracts, differences of functions, derivations."""

from __future__ import annotations

import os
from collections.abc import Callable

from analysis.api import Checker
from analysis.model.options import Options
from analysis.wire import AskContract, AskDifference, Derive, Derived, Event, ToldContract, ToldDifference
from analysis.worker.programs import Programs
from analysis.worker.reference.following import References
from analysis.worker.reference.told_difference import told_difference
from analysis.worker.told_contracts import ToldContracts

Question = Derive | AskContract | AskDifference


class Questions:
    """The questions that wait for a check to be complete."""

    def __init__(
        self, send: Callable[[Event], None], programs: Programs, references: References, contracts: ToldContracts
    ) -> None:
        self._send, self._programs, self._references, self._contracts = send, programs, references, contracts
        self._waiting: list[Question] = []

    def add(self, question: Question) -> None:
        """Takes in a question."""
        self._waiting.append(question)

    def answer(self) -> None:
        """Answers all that waits."""
        waiting, self._waiting = self._waiting, []
        for question in waiting:
            path = os.path.abspath(question.path)
            self._send(self._answer(question, path, self._programs.checker_of(path)))

    def _answer(self, question: Question, path: str, checker: Checker | None) -> Event:
        match question:
            case AskContract(generation, _, function):
                return ToldContract(generation, None if checker is None else self._contracts.answer(checker, path, function))
            case AskDifference(generation):
                program, options = self._programs.program_of(path), Options() if checker is None else checker.options
                return ToldDifference(
                    generation, *told_difference(self._references, program, options, path, self._programs.text(path))
                )
            case Derive(generation, _, function, line):
                return Derived(generation, None if checker is None else checker.derivations(path, function, line))
