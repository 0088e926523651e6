"""A replay from the finding to what was seen: reproduced, or where it went another way, or why it could not be made."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.frontend.compiler.compiler_run import find_program_file
from analysis.model.places import Place
from analysis.model.report import Finding
from analysis.replaying.building import SANITIZERS, UNDEFINED, Replayable, Unit, build
from analysis.replaying.given_objects import RefusedError
from analysis.replaying.harness import Harness, answers_locks, harness_for
from analysis.replaying.reports import Seen, Spot, agrees, seen
from analysis.replaying.running import run

_VALGRIND = ("valgrind", "-q", "--vgdb=no", "--error-exitcode=99")
_LEAK = "memory-leak"
_BY_VALGRIND = {
    "uninitialized-read": ("--leak-check=no", "--track-origins=yes"),
    "use-after-close": ("--leak-check=no",),
    "resource-leak": ("--leak-check=no", "--track-fds=yes"),
    "memory-cleanup": ("--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"),
    _LEAK: ("--leak-check=full", "--errors-for-leak-kinds=definite"),
    "lock-discipline": ("--tool=helgrind",),
    "lock-at-exit": ("--tool=helgrind",),
}
"""Rules that gcc's sanitizers do not look for, with the options that make valgrind do so. LeakSanitizer takes for reachable
what any stale pointer leads to, so that valgrind is asked where it sees no leak."""


class Outcome(NamedTuple):
    """How a replay went. `words`: what was seen, or why nothing was, in a sentence; `said`: all that the program and the tool
    printed; `command`: how to run it again, in the folder where it was built; `program`: the same without a tool, in words."""

    status: Literal["reproduced", "otherwise", "refused"]
    words: str
    said: str = ""
    command: str = ""
    program: tuple[str, ...] = ()


_LOCKS = ("lock-discipline", "lock-at-exit")
_CUT = ("--leak-check=no",)


def replay(finding: Finding, program: Replayable, compiler: str, folder: Path) -> Outcome:
    """Builds the program in an empty folder, and runs it as the finding's run did."""
    if finding.run is None:
        return Outcome("refused", "the finding is not confirmed: there is no run to repeat")
    try:
        harness = harness_for(finding.run, program.externals, finding.rule)
        return _Replay(finding, program.units, harness, compiler, folder).outcome()
    except RefusedError as refused:
        return Outcome("refused", str(refused))


class _Replay:
    def __init__(self, finding: Finding, units: Sequence[Unit], harness: Harness, compiler: str, folder: Path) -> None:
        self._finding = finding
        self._units = units
        self._harness = harness
        self._compiler = compiler
        self._folder = folder

    def outcome(self) -> Outcome:
        """What the first tool says that sees it, else the last one. Of locks that the harness knows no tool is asked."""
        rule = self._finding.rule
        options = _BY_VALGRIND.get(rule)
        own_locks = rule in _LOCKS and answers_locks(self._harness)
        outcome = None
        if options is None or rule == _LEAK or own_locks:
            outcome = self._built(SANITIZERS)
        if outcome is not None and (outcome.status == "reproduced" or (options is None and not self._harness.is_cut)):
            return outcome
        # the blocks that valgrind gives are at addresses that an `int` can hold
        return self._built((), options) if options is not None else self._built(UNDEFINED, _CUT)

    def _built(self, sanitizers: Sequence[str], options: Sequence[str] | None = None) -> Outcome:
        before = () if options is None else (self._valgrind(), *_VALGRIND[1:], *options)
        finding, harness = self._finding, self._harness
        program = build(self._units, harness, self._folder, self._compiler, finding.rule, sanitizers)
        ran = run(program, harness.arguments, before, leaks=finding.rule == _LEAK)
        # the run may violate the rule in a function that is called where the finding is
        spots = [_spot(place) for place in (finding.place, *(step.place for step in finding.trace[-1:]))]
        made = [] if finding.run is None else [_spot(place) for place in finding.run.made_at]
        shown = seen(ran.said, ran.status)
        agreeing = next((one for one in shown if agrees(one, finding.rule, spots, made)), None)
        alone = (f"./{program.name}", *(word.decode("latin-1") for word in harness.arguments))
        command = " ".join(map(shlex.quote, (*before, *alone)))
        words = agreeing.words if agreeing is not None else _otherwise(shown[0], harness)
        return Outcome("otherwise" if agreeing is None else "reproduced", words, ran.said, command, alone)

    def _valgrind(self) -> str:
        valgrind = find_program_file(_VALGRIND[0])
        if valgrind is None:
            raise RefusedError(f"sanitizers do not see it, and valgrind, which looks for {self._finding.rule}, is not installed")
        return valgrind


def _otherwise(shown: Seen, harness: Harness) -> str:
    where = f", in {shown.where[0]}:{shown.where[1]}" if shown.where is not None else ""
    return f"{shown.words}{where}{f'; {harness.doubts[0]}' if harness.doubts else ''}"


def _spot(place: Place) -> Spot:
    return place.path, place.range.start.line, place.range.end.line
