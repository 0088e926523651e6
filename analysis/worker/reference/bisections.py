"""Which bisections were asked for, and what they have found, until it is taken."""

from __future__ import annotations

from typing import NamedTuple

from analysis.worker.reference.task import BisectionTask


class Bisection(NamedTuple):
    """A question of a generation about a program."""

    generation: int
    program: str
    task: BisectionTask


class Bisections:
    """One bisection is under way at a time."""

    def __init__(self) -> None:
        self._waiting: list[Bisection] = []
        self._running: Bisection | None = None
        self._found: list[tuple[int, dict[str, int]]] = []

    def ask(self, generation: int, program: str, task: BisectionTask) -> None:
        """A new question."""
        self._waiting.append(Bisection(generation, program, task))

    def waits(self, program: str) -> bool:
        """Whether there is a question about a program."""
        return any(one.program == program for one in self._waiting)

    def start(self, program: str) -> BisectionTask | None:
        """The next task of a program, which is under way from now on."""
        found = next((one for one in self._waiting if one.program == program), None)
        if found is None:
            return None
        self._waiting.remove(found)
        self._running = found
        return found.task

    def end(self, introduced: dict[str, int] | None = None) -> None:
        """What is under way has ended, with an answer or without."""
        if self._running is not None:
            self._found.append((self._running.generation, introduced or {}))
            self._running = None

    def take(self) -> list[tuple[int, dict[str, int]]]:
        """The answers by generation, as `task.BisectionAnswer` has them; empty where nothing is known."""
        taken, self._found = self._found, []
        return taken
