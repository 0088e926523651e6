"""Contracts for the server: what it asks for, and what edits did to them."""

from __future__ import annotations

import time
from collections.abc import Callable

from analysis.api import Checker
from analysis.session.contracts.open_contracts import Told
from analysis.session.contracts.sentences import callers_sentence, sentences
from analysis.wire import ContractChange, ContractChanges, ContractLine, ContractText

PATIENCE = 0.2  # seconds for what somebody waits for
MOMENT = 1.0  # seconds for what nobody waits for, before something else has its turn
MOST_LINES = 8  # of a contract that are shown

GoesOn = Callable[[], bool]


class ToldContracts:
    """Answers questions about contracts. It ends what `interrupted` says is not wanted any more; `busy` says whether something
    else waits to be done, for which work that nobody waits for is put off."""

    def __init__(self, interrupted: Callable[[], bool], busy: Callable[[], bool]) -> None:
        self._interrupted, self._busy = interrupted, busy
        self._sent: dict[str, tuple[ContractChange, ...]] = {}

    def answer(self, checker: Checker, path: str, function: str) -> ContractText | None:
        """The contract of a function that is named in a file, as far as it is found at once."""
        until = time.perf_counter() + PATIENCE
        told = checker.contracts.tell(path, function, lambda: not self._interrupted() and time.perf_counter() < until)
        return None if told is None else contract_text(told)

    def go_on(self, program: str, checker: Checker, generation: int) -> ContractChanges | None:
        """Goes on with what was asked for, and compares edited functions. The news, if there are any."""
        found = checker.contracts.go_on(lambda: not self._interrupted() and not self._busy())
        if found is None:
            return None
        changes = tuple(ContractChange(*one) for one in found)
        if not changes and not self._sent.get(program):
            return None
        self._sent[program] = changes
        return ContractChanges(generation, program, changes)

    def follow_all(self, checker: Checker) -> None:
        """Goes on for a moment with what nobody has asked for so far."""
        until = time.perf_counter() + MOMENT
        checker.contracts.follow_all(lambda: not self._interrupted() and not self._busy() and time.perf_counter() < until)


def contract_text(told: Told) -> ContractText:
    """A contract as the server shows it."""
    contract, said = told.contract, sentences(told.contract)
    return ContractText(
        function=contract.function,
        declaration=contract.declared or contract.signature,
        lines=tuple(ContractLine(*one) for one in said[:MOST_LINES]),
        more=max(len(said) - MOST_LINES, 0),
        callers=callers_sentence(contract),
        path=contract.path,
        line=contract.line,
        is_whole=told.is_whole,
    )
