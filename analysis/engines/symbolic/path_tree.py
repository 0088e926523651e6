"""Explores the paths of a program (`analysis.path_following.following`), from `main` on.

Paths that have taken the same branch less often come first, so that loops with bounds that depend on inputs do not keep the
exploration from going on. What can violate a rule is asked about before each edge. If all paths end and nothing was sat, no run
violates the rules.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import Literal

from analysis.cfa.graph import Edge, Program
from analysis.path_following.checks import Check, EdgeChecks
from analysis.path_following.following import Path, PathFollower, Questions
from analysis.smt.encoding.paths.path import PathEncoder

_SLICE = 1_000  # edges of one path before others get their turn
_TURNS = 4  # one path in so many is the oldest one

Ending = Literal["finished", "budget", "found"]


class Waiting:
    """A path that waits for its turn; None once it was taken."""

    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path: Path | None = path


Judge = Callable[[Path, Check, Edge | None, Questions], bool]
"""Called with a violation that may happen on the edge that a path takes next (None: at its end). True ends the exploration."""


class PathExploration(PathFollower):
    """Explores the paths of a program, each `run` going on where the one before ended. `edges` counts what they all took."""

    def __init__(
        self, program: Program, checks: EdgeChecks, encoder: PathEncoder, milliseconds: int, *, fails: bool, outside: bool
    ) -> None:
        super().__init__(program, checks, encoder, milliseconds, fails=fails, outside=outside)
        self._heap: list[tuple[int, int, Waiting]] = []
        self._old: deque[Waiting] = deque()
        self._pushed = 0
        self._popped = 0
        self._judge: Judge = lambda path, check, edge, questions: False
        self.edges = 0
        self._push(self.first)

    def judge(self, path: Path, check: Check, edge: Edge | None) -> bool:
        """See PathFollower."""
        return self._judge(path, check, edge, self.questions)

    def run(self, judge: Judge, is_late: Callable[[], bool]) -> Ending:
        """Explores until all paths have ended, `judge` says so, or it is late."""
        self._judge = judge
        while (path := self._pop()) is not None:
            for _ in range(_SLICE):
                if is_late():
                    self._push(path)
                    return "budget"
                self.edges += 1
                following, found = self.advance(path)
                if found:
                    return "found"
                if len(following) != 1:
                    break
                path = following[0]
            for one in following:
                self._push(one)
        return "finished"

    # -- order --------------------------------------------------------------------------------------------------

    def _push(self, path: Path) -> None:
        self._pushed += 1
        waiting = Waiting(path)
        heapq.heappush(self._heap, (max(path.forks.values(), default=0), -self._pushed, waiting))
        self._old.append(waiting)

    def _pop(self) -> Path | None:
        """The next path; what waits is in both lists, and the other one skips it once it is taken."""
        while self._heap and self._old:
            self._popped += 1
            waiting = self._old.popleft() if self._popped % _TURNS == 0 else heapq.heappop(self._heap)[2]
            path, waiting.path = waiting.path, None
            if path is not None:
                return path
        return None
