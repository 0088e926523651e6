"""What edits did to the contracts of functions since their files were saved, as the checker said it last."""

from __future__ import annotations

import os

from analysis.wire import CheckDone, ContractChange, ContractChanges


class ContractNews:
    """The last news of each program."""

    def __init__(self) -> None:
        self._last: dict[str, ContractChanges] = {}

    def apply(self, event: ContractChanges) -> None:
        """Takes over what the checker says of a program."""
        self._last[event.program] = event

    def forget(self) -> None:
        """The checker that said it is gone."""
        self._last.clear()

    def of(self, path: str, function: str, last_check: CheckDone | None) -> tuple[ContractChange, bool] | None:
        """What edits did to the contract of a function of a file, and whether that is of the texts of the last check; None if
        nothing is said of it."""
        for event in self._last.values():
            for change in event.changes:
                if change.function == function and os.path.abspath(change.path) == path:
                    return change, last_check is None or event.generation >= last_check.generation
        return None
