"""A replay from the finding to what was seen: reproduced, or where it went another way, or why it could not be made."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.frontend.compiler.compiler_run import find_program_file
from analysis.model.report import Finding
from analysis.replaying.building import Unit, build
from analysis.replaying.harness import Harness, RefusedError, harness_for
from analysis.replaying.reports import agrees, seen
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


def replay(finding: Finding, units: Sequence[Unit], compiler: str, folder: Path) -> Outcome:
    """Builds the program in an empty folder, and runs it as the finding's run did."""
    if finding.run is None:
        return Outcome("refused", "the finding is not confirmed: there is no run to be made again")
    try:
        harness = harness_for(finding.run)
        outcome = _by_sanitizers(finding, units, harness, compiler, folder)
        by_valgrind = _BY_VALGRIND.get(finding.rule)
        if by_valgrind is None or (outcome is not None and outcome.status == "reproduced"):
            return outcome or Outcome("refused", "nothing was run")
        return _by_valgrind(finding, units, harness, compiler, folder, by_valgrind)
    except RefusedError as refused:
        return Outcome("refused", str(refused))


def _by_sanitizers(finding: Finding, units: Sequence[Unit], harness: Harness, compiler: str, folder: Path) -> Outcome | None:
    """None for what sanitizers do not look for."""
    if finding.rule in _BY_VALGRIND and finding.rule != _LEAK:
        return None
    program = build(units, harness, folder, compiler, finding.rule)
    return _outcome(finding, program, harness, ())


def _by_valgrind(
    finding: Finding, units: Sequence[Unit], harness: Harness, compiler: str, folder: Path, options: tuple[str, ...]
) -> Outcome:
    valgrind = find_program_file(_VALGRIND[0])
    if valgrind is None:
        raise RefusedError(f"sanitizers do not see it, and valgrind, which looks for {finding.rule}, is not installed")
    program = build(units, harness, folder, compiler, finding.rule, sanitized=False)
    return _outcome(finding, program, harness, (valgrind, *_VALGRIND[1:], *options))


def _outcome(finding: Finding, program: Path, harness: Harness, before: tuple[str, ...]) -> Outcome:
    ran = run(program, harness.arguments, before, leaks=finding.rule == _LEAK)
    shown = seen(ran.said, ran.status)
    # the run may violate the rule in a function that is called where the finding is
    places = [finding.place, *(step.place for step in finding.trace[-1:])]
    lines = [(one.path, one.range.start.line, one.range.end.line) for one in places]
    is_seen = any(agrees(shown, finding.rule, *one) for one in lines)
    where = "" if is_seen or not shown.places else f", in {shown.places[0][0]}:{shown.places[0][1]}"
    alone = (f"./{program.name}", *(word.decode("latin-1") for word in harness.arguments))
    command = " ".join(map(shlex.quote, (*before, *alone)))
    why = "" if is_seen or not harness.doubts else f"; {harness.doubts[0]}"
    return Outcome("reproduced" if is_seen else "otherwise", f"{shown.words}{where}{why}", ran.said, command, alone)
