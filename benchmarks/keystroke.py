"""Measures edit sessions against the real language server: `python -m benchmarks.keystroke [SESSION ...] [--clangd]`.

The sessions are in benchmarks/sessions; `benchmarks.typing_session` types them, broken states included. Two times a key are
measured at the client: from `didChange` to the `publishDiagnostics` of that version, and to the `everproof/status` that says the
check is complete. That status also tells the check's time by stage; what is left of the client's time is transport: the server
and the messages between client, server and checker. A session's expectations are checked as well; the exit status is 1 if one
does not hold.

`--clangd` types the same keys into clangd, if it is on PATH, with the same client, as an editor would; clangd then pauses before
it looks at a text that may soon be outdated. And once more with its extension `wantDiagnostics`, which has it look at once.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.programs import provide
from benchmarks.sources import FetchError
from benchmarks.typing_session import KINDS, Key, Other, Outcome, run
from demo.editor import ServerError

SESSIONS = Path(__file__).resolve().parent / "sessions"
STAGES = ("preprocess", "parse", "lower", "link", "automaton", "report", "afterwards")
SCOPES = ("program", "file")
SLOWEST = 5
PERCENTS = (50, 95, 99)
_CLANGD = {"clangd": {}, "clangd, no pause": {"wantDiagnostics": True}}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.keystroke", description="Measure edit sessions.")
    parser.add_argument("sessions", nargs="*", type=Path, help="session files (default: all of benchmarks/sessions)")
    parser.add_argument("--scope", choices=SCOPES, action="append", help="what is loaded (default: all that a session names)")
    parser.add_argument("--chunk", type=int, default=1, metavar="N", help="type N characters at a time (default: 1)")
    parser.add_argument("--clangd", action="store_true", help="also the same keys into clangd, the program loaded")
    given = parser.parse_args(arguments)
    if given.chunk < 1:
        parser.error("--chunk must be at least 1")
    if given.clangd and shutil.which("clangd") is None:
        parser.error("there is no clangd on PATH; install it, for example by `apt-get install clangd`")
    failed = False
    try:
        for path in given.sessions or sorted(SESSIONS.glob("*.json")):
            session = json.loads(path.read_text(encoding="utf-8"))
            commands = provide(session["program"])
            scopes = [scope for scope in session.get("scopes", SCOPES) if scope in (given.scope or SCOPES)]
            if not scopes:
                continue
            outcomes = {scope: run(session, commands, scope, given.chunk) for scope in scopes}
            failed = failed or any(outcome.missed for outcome in outcomes.values())
            others = _clangd(session, commands, given.chunk, next(iter(outcomes.values()))) if given.clangd else {}
            print(tables(path.stem, outcomes, others), flush=True)
    except (FetchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0


def _clangd(session: dict[str, Any], commands: Path, chunk: int, ours: Outcome) -> dict[str, Outcome]:
    command = ["clangd", "--background-index=0", "--log=error", f"--compile-commands-dir={commands.parent}"]
    kinds = [key.kind for key in ours.keys]
    return {name: run(session, commands, "program", chunk, Other(command, more, kinds)) for name, more in _CLANGD.items()}


def tables(name: str, outcomes: dict[str, Outcome], others: dict[str, Outcome]) -> str:
    """One session, as Markdown: `outcomes` are Everproof's by what was loaded, `others` another server's."""
    lines = [f"### Edit session {name}", "", "| loaded | time from a key to | keys | p50 | p95 | p99 | max | opened after |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for scope, outcome in outcomes.items():
        lines.append(_row(outcome, f"{scope} | published diagnostics", outcome.keys, lambda key: key.published))
        lines.append(_row(outcome, f"{scope} | the whole check done", outcome.keys, lambda key: key.finished))
        inside = [key for key in outcome.keys if key.inside]
        lines.append(_row(outcome, f"{scope} | published diagnostics, keys inside bodies", inside, lambda key: key.published))
    for server, outcome in others.items():
        lines.append(_row(outcome, f"{server} | published diagnostics", outcome.keys, lambda key: key.published))
    lines += ["", f"| loaded | the key leaves | {' | '.join(['keys', *(f'p{p}' for p in PERCENTS), 'max'])} |", "|---" * 7 + "|"]
    for scope, outcome in {**outcomes, **others}.items():
        for kind in KINDS:
            keys = [key for key in outcome.keys if key.kind == kind]
            if keys:
                lines.append(_row(None, f"{scope} | {kind}", keys, lambda key: key.finished))
    for scope, outcome in outcomes.items():
        lines += ["", f"| stage ({scope}) | {' | '.join(f'p{p}' for p in PERCENTS)} | max | mean |", "|---" * 6 + "|"]
        for stage, times in _stages(outcome.keys).items():
            shown = (*percentiles(times, PERCENTS), max(times), statistics.mean(times))
            lines.append(f"| {stage} | {' | '.join(f'{value:.1f} ms' for value in shown)} |")
    for scope, outcome in outcomes.items():
        lines += ["", f"| slowest keys ({scope}) | most of it in | step | line |", "|---|---|---|---|"]
        for key in sorted(outcome.keys, key=lambda key: -key.finished)[:SLOWEST]:
            (stage, most), *_ = sorted(((s, times[0]) for s, times in _stages([key]).items()), key=lambda item: -item[1])
            line = key.line.replace("|", "\\|")
            lines.append(f"| {key.finished:.1f} ms | {stage}, {most:.1f} ms | {key.step} | `{line}` |")
    for scope, outcome in outcomes.items():
        lines += ["", f"| step ({scope}) | keys | median, check done | |", "|---|---|---|---|"]
        lines += [f"| {note} | {keys} | {median:.1f} ms | {held} |" for note, keys, median, held in outcome.notes]
    return "\n".join(lines) + "\n"


def _row(outcome: Outcome | None, title: str, keys: Sequence[Key], time_of: Callable[[Key], float]) -> str:
    times = [time_of(key) for key in keys]
    shown = " | ".join(f"{value:.1f} ms" for value in (*percentiles(times, PERCENTS), max(times)))
    return f"| {title} | {len(times)} | {shown} |" + (f" {outcome.opened_ms / 1000:.2f} s |" if outcome is not None else "")


def _stages(keys: Sequence[Key]) -> dict[str, list[float]]:
    """The milliseconds of each key by stage. Together they are the time until the check is done."""
    found: dict[str, list[float]] = {stage: [] for stage in (*STAGES, "the rest of the check", "transport")}
    for key in keys:
        for stage in STAGES:
            found[stage].append(key.times[stage])
        found["the rest of the check"].append(key.times["total"] - sum(key.times[stage] for stage in STAGES))
        found["transport"].append(key.finished - key.times["total"])
    return found


def percentiles(values: Sequence[float], wanted: Sequence[int]) -> list[float]:
    """Values of those that were measured, which as many per cent do not exceed."""
    ordered = sorted(values)
    return [ordered[min(len(ordered) - 1, round(percent / 100 * (len(ordered) - 1)))] for percent in wanted]


if __name__ == "__main__":
    sys.exit(main())
