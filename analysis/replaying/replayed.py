"""A replay from the finding to what was seen: reproduced, or where it went another way, or why it could not be made."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.frontend.compiler.compiler_run import find_program_file
from analysis.model.report import Finding
from analysis.replaying.building import Unit, build
from analysis.replaying.harness import RefusedError, harness_for
from analysis.replaying.reports import agrees, seen
from analysis.replaying.running import run

_VALGRIND = ("valgrind", "-q", "--vgdb=no", "--error-exitcode=99")
_BY_VALGRIND = {
    "uninitialized-read": ("--leak-check=no", "--track-origins=yes"),
    "use-after-close": ("--leak-check=no",),
    "resource-leak": ("--leak-check=no", "--track-fds=yes"),
    "memory-cleanup": ("--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"),
    "lock-discipline": ("--tool=helgrind",),
    "lock-at-exit": ("--tool=helgrind",),
}
"""Rules that gcc's sanitizers do not look for, with the options that make valgrind do so."""


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
        options = _BY_VALGRIND.get(finding.rule)
        valgrind = None if options is None else find_program_file(_VALGRIND[0])
        if options is not None and valgrind is None:
            raise RefusedError(f"sanitizers do not look for {finding.rule}, and valgrind is not installed")
        program = build(units, harness, folder, compiler, finding.rule, sanitized=options is None)
    except RefusedError as refused:
        return Outcome("refused", str(refused))
    before = () if options is None or valgrind is None else (valgrind, *_VALGRIND[1:], *options)
    ran = run(program, harness.arguments, before)
    words = [*before, f"./{program.name}", *(word.decode("latin-1") for word in harness.arguments)]
    command, alone = " ".join(map(shlex.quote, words)), tuple(words[len(before) :])
    shown = seen(ran.said, ran.status)
    # the run may violate the rule in a function that is called where the finding is
    places = [finding.place, *(step.place for step in finding.trace[-1:])]
    lines = [(one.path, one.range.start.line, one.range.end.line) for one in places]
    is_seen = any(agrees(shown, finding.rule, *one) for one in lines)
    where = "" if is_seen or not shown.places else f", in {shown.places[0][0]}:{shown.places[0][1]}"
    return Outcome("reproduced" if is_seen else "otherwise", f"{shown.words}{where}", ran.said, command, alone)
