"""How time and memory grow with the program: `python -m benchmarks.growth [--lines N ...]`, as Markdown and as a picture.

Programs are generated with the shape of real ones (`benchmarks.call_graphs`, where the measured figures are). Each is checked
from nothing, which is Full, and then after edits of bodies, which is IncrBack: an edit is made and undone, and both are measured.
After each edit is undone, the findings must be the first ones; the exit status is 1 if they are not.

Each size has a process of its own with limits. A size that exceeds them is in the table as far as it came.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.curves import Growth, Point, growth
from benchmarks.resident import resident

RESULTS = Path(__file__).resolve().parent / "results"
LINES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_LOOK = 0.1  # seconds between two looks at the memory of a step

Event = dict[str, Any]


@dataclass
class Grown:
    """What was measured of one size. `ended` says why it is not all, None if it is."""

    asked: int
    program: Event | None = None
    full: Event | None = None
    edits: list[Event] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    megabytes: float = 0.0
    ended: str | None = None

    @property
    def lines(self) -> int:
        """The lines that the program has, those that were asked for if it was not made."""
        return self.program["lines"] if self.program is not None else self.asked

    def of_edits(self, what: str) -> list[float]:
        """A time or a number of all edits that the engine repaired, smallest first."""
        return sorted(edit[what] for edit in self.edits if not edit["from_scratch"])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description="Measure programs of growing size.")
    parser.add_argument("--lines", type=int, nargs="+", default=LINES, help=f"sizes (default: {' '.join(map(str, LINES))})")
    parser.add_argument("--edits", type=int, default=20, help="edits of each program, made and undone (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the programs and the edits (default: 0)")
    parser.add_argument("--megabytes", type=int, default=16_000, help="memory that one size may take (default: 16000)")
    parser.add_argument("--seconds", type=int, default=1800, help="time that one size may take (default: 1800)")
    given = parser.parse_args(arguments)
    if min(*given.lines, given.edits, given.megabytes, given.seconds) < 1:
        parser.error("all but the seed are at least 1")
    sizes: list[Grown] = []
    for lines in given.lines:
        sizes.append(measure(lines, given.edits, given.seed, given.megabytes, given.seconds))
        print(_progress(sizes[-1]), file=sys.stderr, flush=True)
    print(table(sizes))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "growth.svg").write_text(picture(sizes), encoding="utf-8")
    return 1 if any(size.different for size in sizes) else 0


def measure(lines: int, edits: int, seed: int, megabytes: int, seconds: float) -> Grown:
    """One size, in a process of its own, which is ended when it has more resident memory or takes longer than it may."""
    values = {"--lines": lines, "--edits": edits, "--seed": seed}
    command = [sys.executable, "-m", "benchmarks.growth_step", *(str(part) for pair in values.items() for part in pair)]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        ended = _watched(process, megabytes, seconds)
        output.seek(0)
        errors.seek(0)
        if ended is None and process.returncode != 0:
            said = errors.read().decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
            ended = f"exit status {process.returncode}: {said[0]}"
        return grown(lines, output.read(), ended)


def _watched(process: subprocess.Popen[bytes], megabytes: int, seconds: float) -> str | None:
    """Why the process was ended before it was done. None if it ended by itself."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            process.wait(_LOOK)
            return None
        except subprocess.TimeoutExpired:
            over = resident(process.pid) > megabytes << 20
            if over or time.monotonic() > deadline:
                process.kill()
                process.wait()
                return f"more than {megabytes} MB" if over else f"more than {seconds} s"


def grown(asked: int, output: bytes, ended: str | None) -> Grown:
    """What a process has said, up to the last whole line."""
    found = Grown(asked, ended=ended)
    for line in output.split(b"\n")[:-1]:
        event = json.loads(line)
        found.megabytes = max(found.megabytes, event["megabytes"])
        match event["stage"]:
            case "program":
                found.program = event
            case "full":
                found.full = event
            case "edit" | "back":
                found.edits.append(event)
            case "different":
                found.different.append(f"{event['kind']} in {event['function']}")
    return found


def _progress(size: Grown) -> str:
    return f"{size.asked} lines: {len(size.edits)} edits measured, {size.megabytes:.0f} MB {size.ended or ''}"


def table(sizes: Sequence[Grown]) -> str:
    """All sizes, as Markdown."""
    rows: list[tuple[str, Callable[[Grown], str]]] = [
        ("C files, functions", lambda s: f"{s.program['files']}, {s.program['functions']}" if s.program else ""),
        ("configurations", lambda s: _of(s.full, "configurations", "{:.0f}")),
        ("findings", lambda s: _of(s.full, "findings", "{:.0f}")),
        ("reading all files, s", lambda s: f"{s.full['seconds'] - s.full['engine']:.1f}" if s.full else ""),
        ("Full, s", lambda s: _of(s.full, "engine", "{:.1f}")),
        ("peak memory after Full, MB", lambda s: _of(s.full, "megabytes", "{:.0f}")),
        ("edits measured", lambda s: str(len(s.edits))),
        ("of these checked from nothing", lambda s: str(sum(edit["from_scratch"] for edit in s.edits))),
        ("IncrBack, ms: median, p95, most", lambda s: _spread(s.of_edits("engine"))),
        ("Full / IncrBack: median", lambda s: _speed_up(s)),
        ("configurations computed: median, p95, most", lambda s: _spread(s.of_edits("computed"), 1)),
        ("functions looked at again: median, p95, most", lambda s: _spread(s.of_edits("rechecked"), 1)),
        ("an edit's whole check, ms: median, p95, most", lambda s: _spread(s.of_edits("seconds"))),
        ("the same by the clock, with the preprocessor", lambda s: _spread(s.of_edits("wall"))),
        ("peak memory after all edits, MB", lambda s: f"{s.megabytes:.0f}" if s.edits else ""),
        ("not complete, because of", lambda s: s.ended or ""),
    ]
    shown = [(title, [cell(size) for size in sizes]) for title, cell in rows]
    lines = ["### Growth", "", f"| lines | {' | '.join(f'{size.lines}' for size in sizes)} |", "|---" * (len(sizes) + 1) + "|"]
    lines += [f"| {title} | {' | '.join(cells)} |" for title, cells in shown if any(cells)]
    lines += [f"\n**Other findings than before the edit**, {s.lines} lines: {d}" for s in sizes for d in s.different]
    return "\n".join(lines) + "\n"


def _of(event: Event | None, what: str, form: str) -> str:
    return "" if event is None else form.format(event[what])


def _spread(values: list[float], scale: int = 1000) -> str:
    if not values:
        return ""
    p95 = values[min(len(values) - 1, round(0.95 * (len(values) - 1)))]
    return ", ".join(f"{value * scale:.0f}" for value in (statistics.median(values), p95, values[-1]))


def _speed_up(size: Grown) -> str:
    engine = size.of_edits("engine")
    return f"{size.full['engine'] / statistics.median(engine):.0f}" if size.full and engine else ""


def picture(sizes: Sequence[Grown]) -> str:
    """Time and memory over the lines, as SVG."""
    times: dict[str, list[Point]] = {
        "Full": [(size.lines, size.full["engine"]) for size in sizes if size.full],
        "reading all files": [(size.lines, size.full["seconds"] - size.full["engine"]) for size in sizes if size.full],
        "an edit: whole check, median": _medians(sizes, "seconds"),
        "an edit: IncrBack, median": _medians(sizes, "engine"),
    }
    memory: dict[str, list[Point]] = {
        "after Full": [(size.lines, size.full["megabytes"]) for size in sizes if size.full],
        "after all edits": [(size.lines, size.megabytes) for size in sizes if size.edits],
    }
    return growth([Growth("processor time", "lines", "s", times), Growth("peak memory", "lines", "MB", memory)])


def _medians(sizes: Sequence[Grown], what: str) -> list[Point]:
    return [(size.lines, statistics.median(values)) for size in sizes if (values := size.of_edits(what))]


if __name__ == "__main__":
    sys.exit(main())
