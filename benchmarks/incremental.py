"""ORION's experiment (section 6): `python -m benchmarks.incremental [PROGRAM ...] [--sample N] [--share S ...]`, as Markdown.

For each function that calls can lead to from the program's entry, one at a time: the function is emptied and the program checked
incrementally; then it is put back and checked again, and the time of this second check is compared with Full's for the whole
program. Times are the engine's processor time, from the new CFAs to the findings. With `--share`, a part of the functions goes
and comes back at once. After each step back the findings must be those of the first check; the exit status is 1 if they are not.
(A trace may take another path, of several equally short ones: the theorems say nothing of the order in which things are found.)
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

from benchmarks.curves import Panel, plot
from benchmarks.programs import provide
from benchmarks.sources import FetchError
from benchmarks.stubs import Edited, read
from benchmarks.there_and_back import ALGORITHMS, NAMES, Measured, Step, measure

RESULTS = Path(__file__).resolve().parent / "results"
PROGRAMS: dict[str, tuple[str, tuple[str, ...], str | None]] = {  # what is fetched, entry functions, which of its files
    "spin": ("spin", (), None),
    "sendmail": ("sendmail", (), None),
    "spin-tl": ("spin", ("tl_main",), "tl_*.c"),
}
PERCENTS = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 100)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.incremental", description="Measure incremental checks.")
    parser.add_argument("names", nargs="*", help=f"which programs: {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--sample", type=int, help="as many functions of each program, drawn by the seed (default: all)")
    parser.add_argument("--share", type=float, nargs="+", default=[], help="also parts of all functions at once, such as 0.1 0.5")
    parser.add_argument("--draws", type=int, default=3, help="sets of functions for each share (default: 3)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (default: 0)")
    parser.add_argument(
        "--runs",
        type=int,
        default=3,
        help="runs of Full, before and after; the median counts (default: 3)",
    )
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in PROGRAMS]
    if unknown:
        parser.error(f"no program {unknown[0]!r}; there are {', '.join(PROGRAMS)}")
    if any(not 0 < share <= 1 for share in given.share) or min(given.draws, given.runs, given.sample or 1) < 1:
        parser.error("a share is above 0 and at most 1; the other numbers are at least 1")
    failed = False
    try:
        for name in given.names or list(PROGRAMS):
            measured = measure(name, _read(name), given.sample, given.share, given.draws, Random(given.seed), given.runs)
            print(tables(measured), flush=True)
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"incremental-{name}.svg").write_text(picture(measured), encoding="utf-8")
            failed = failed or bool(measured.differs)
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0


def _read(name: str) -> Edited:
    package, entries, files = PROGRAMS[name]
    commands = provide(package)
    return read(commands, entries, [] if files is None else sorted(str(path) for path in commands.parent.rglob(files)))


def tables(measured: Measured) -> str:
    """All that was measured on one program, as Markdown."""
    steps = next(iter(measured.steps.values()))
    spread = f"{min(measured.full):.2f} to {max(measured.full):.2f}"
    facts = [
        ("lines of the C files", measured.edited.lines),
        ("functions that calls lead to from the entry", len(measured.edited.traits)),
        ("of these measured", len(steps)),
        ("configurations", measured.configurations),
        ("findings", len(measured.findings)),
        ("Full, s", f"{measured.full_seconds:.2f} ({spread})"),
        ("steps with other findings than Full", len(measured.differs)),
        ("steps with another trace of a finding", ", ".join(f"{NAMES[a]} {measured.other_traces[a]}" for a in ALGORITHMS)),
    ]
    lines = [f"### {measured.name}", "", "| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in facts)]
    lines += [
        "",
        "| speed-up over Full | steps | mean | median | p10 | p90 | min | max | revise, ms | repair, ms |",
        "|---" * 10 + "|",
    ]
    for algorithm in ALGORITHMS:
        done = measured.steps[algorithm]
        repaired = [step for step in done if step.refused is None]
        lines.append(_row(measured, f"{NAMES[algorithm]}, all", done))
        if repaired and len(repaired) < len(done):
            lines.append(_row(measured, f"{NAMES[algorithm]}, repaired only", repaired))
    refused = Counter(step.refused for step in steps if step.refused is not None)
    if refused:
        lines += ["", f"| {sum(refused.values())} of {len(steps)} steps fell back to Full, because | steps |", "|---|---|"]
        lines += [f"| {why} | {count} |" for why, count in sorted(refused.items(), key=lambda item: (-item[1], item[0]))]
    lines += ["", "| % of the steps have at least the speed-up | " + " | ".join(map(str, PERCENTS)) + " |"]
    lines.append("|---" * (len(PERCENTS) + 1) + "|")
    for algorithm in ALGORITHMS:
        best = sorted(measured.speed_ups(measured.steps[algorithm]), reverse=True)
        shown = " | ".join(f"{best[max(0, math.ceil(percent / 100 * len(best)) - 1)]:.1f}" for percent in PERCENTS)
        lines.append(f"| {NAMES[algorithm]} | {shown} |")
    lines += ["", "| correlation r of IncrBack's speed-up with | all | repaired only |", "|---|---|---|"]
    everything, repaired_only = _panels(measured, False), _panels(measured, True)
    for panel, other in zip(everything, repaired_only, strict=True):
        lines.append(f"| {panel.title} | {panel.r} | {other.r} |")
    if measured.shares:
        lines += ["", "| share put back at once | draws | fell back | IncrFwd | IncrBack |", "|---|---|---|---|---|"]
        for share, by in measured.shares.items():
            shown = " | ".join(", ".join(f"{s:.2f}" for s in measured.speed_ups(by[algorithm])) for algorithm in ALGORITHMS)
            reasons = Counter(step.refused for step in by[ALGORITHMS[0]] if step.refused is not None)
            why = "; ".join(f"{count}: {reason}" for reason, count in sorted(reasons.items())) or "0"
            lines.append(f"| {share:.0%} | {len(by[ALGORITHMS[0]])} | {why} | {shown} |")
    lines += [f"\n**Other findings than Full:** {difference}" for difference in measured.differs]
    return "\n".join(lines) + "\n"


def _row(measured: Measured, title: str, steps: Sequence[Step]) -> str:
    found = sorted(measured.speed_ups(steps))

    def at(percent: int) -> float:
        return found[min(len(found) - 1, round(percent / 100 * (len(found) - 1)))]

    shown = " | ".join(
        f"{x:.1f}" for x in (statistics.mean(found), statistics.median(found), at(10), at(90), found[0], found[-1])
    )
    repaired = [step for step in steps if step.refused is None]
    parts = [f"{statistics.median(values) * 1000:.0f}" if values else "" for values in _parts(repaired)]
    return f"| {title} | {len(steps)} | {shown} | {' | '.join(parts)} |"


def _parts(steps: Sequence[Step]) -> tuple[list[float], list[float]]:
    return [step.revise for step in steps], [step.repair for step in steps]


def picture(measured: Measured) -> str:
    """Fig. 6 for one program, and how the speed-up of IncrBack goes with what a function is like, as SVG."""
    curves = {NAMES[a]: sorted(measured.speed_ups(measured.steps[a]), reverse=True) for a in ALGORITHMS}
    return plot(measured.name, curves, _panels(measured, False))


def _panels(measured: Measured, repaired_only: bool) -> list[Panel]:
    steps = [step for step in measured.steps["incr-back"] if step.refused is None or not repaired_only]
    speed_ups = measured.speed_ups(steps)
    traits = [measured.edited.traits[step.what] for step in steps]
    kinds = {
        "log of edges": [math.log(trait.edges) for trait in traits],
        "call depth": [float(trait.depth) for trait in traits],
        "log of callers + 1": [math.log(trait.callers + 1) for trait in traits],
        "log of callees + 1": [math.log(trait.callees + 1) for trait in traits],
    }
    return [Panel(title, list(zip(values, speed_ups, strict=True))) for title, values in kinds.items()]


if __name__ == "__main__":
    sys.exit(main())
