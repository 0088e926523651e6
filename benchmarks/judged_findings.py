"""How often findings on real projects are right, as they were judged by hand: `python -m benchmarks.judged_findings`.

`benchmarks/judged_findings.csv` has a row for each finding that somebody has read with its code. It says whether the finding is
`true` (a run of the program can do it), `plausible` (it needs an input or a state of memory that the code does not exclude; or it
is true and does no harm) or `false` (the code excludes it), and why. Fingerprints hold no line numbers, so that judgements stay
when the analysis changes. What is no longer found is not counted.

It reads the reports that `benchmarks.real_projects` keeps. For each project it prints how many of the judged findings are right:
of those that are shown, of those that are held back, and of those that would be shown with points chosen on all other projects
(leave-one-out cross-validation). The last figure estimates how well points do on a project that nobody looked at.

`--unjudged N` prints N findings that wait for a judgement.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from analysis.model.evidence import POINTS, START, points
from analysis.model.report import LIKELY
from benchmarks.real_projects import KEPT
from benchmarks.real_sources import NAMES

JUDGEMENTS = Path(__file__).with_suffix(".csv")
RIGHT = ("true", "plausible")


class Judged(NamedTuple):
    """A finding that was read. `evidence` is what the analysis sees of it now, `confirmed` whether a run did it."""

    project: str
    evidence: tuple[str, ...]
    confirmed: bool
    verdict: str

    @property
    def is_right(self) -> bool:
        """Whether it is worth being read."""
        return self.verdict in RIGHT


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judged_findings", description="How often findings are right.")
    parser.add_argument("--engine", default="automaton", help="of which reports: as for benchmarks.real_projects")
    parser.add_argument("--unjudged", type=int, metavar="N", help="print N findings, drawn at random, that nobody has judged")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--held-back", action="store_true", help="draw from those that are held back as well")
    given = parser.parse_args(arguments)
    judgements = read_judgements()
    reports = {name: _findings(name, given.engine) for name in NAMES}
    if given.unjudged is not None:
        for line in _unjudged(reports, judgements, given):
            print(line)
        return 0
    judged = [
        _judged(name, f, judgements[name, f["fingerprint"]])
        for name, findings in reports.items()
        for f in findings
        if (name, f["fingerprint"]) in judgements
    ]
    print(table(judged, Counter(name for name, findings in reports.items() for f in findings if is_shown(_judged(name, f, "")))))
    return 0


def read_judgements() -> dict[tuple[str, str], str]:
    """The verdicts by project and fingerprint."""
    with JUDGEMENTS.open(encoding="utf-8", newline="") as file:
        return {(row["project"], row["fingerprint"]): row["verdict"] for row in csv.DictReader(file)}


def _judged(name: str, finding: dict[str, Any], verdict: str) -> Judged:
    return Judged(name, tuple(finding["evidence"]), finding["status"] == "confirmed", verdict)


def _findings(name: str, engine: str) -> list[dict[str, Any]]:
    kept = KEPT / f"{name}.{engine}.json"
    found: list[dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8"))["report"]["findings"] if kept.is_file() else []
    return found


def _unjudged(
    reports: Mapping[str, list[dict[str, Any]]], judgements: Mapping[tuple[str, str], str], given: argparse.Namespace
) -> list[str]:
    waiting = [
        f"{name},{f['path']}:{f['range']['start']['line']},{f['rule']},{f['function']},{f['fingerprint']},,"
        for name, findings in reports.items()
        for f in findings
        if (f["shown"] or given.held_back) and (name, f["fingerprint"]) not in judgements
    ]
    return random.Random(given.seed).sample(waiting, min(given.unjudged, len(waiting)))


def table(judged: Sequence[Judged], shown: Mapping[str, int]) -> str:
    """The precision of each project, in Markdown; `shown` are the findings that are shown, judged or not."""
    lines = [
        "| project | shown | of these read | true | plausible | false | right | held back, read | of these right "
        "| right, points chosen without it |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    without: list[Judged] = []
    for name in dict.fromkeys(one.project for one in judged):
        own = [one for one in judged if one.project == name]
        others = learned([one for one in judged if one.project != name])
        kept = [one for one in own if one.confirmed or score(one.evidence, others) >= LIKELY]
        without += kept
        lines.append(_row(name, own, shown[name], kept))
    lines.append(_row("all", judged, sum(shown.values()), without))
    return "\n".join(lines)


def _row(name: str, judged: Sequence[Judged], shown: int, kept: Sequence[Judged]) -> str:
    read = [one for one in judged if is_shown(one)]
    held = [one for one in judged if not is_shown(one)]
    verdicts = Counter(one.verdict for one in read)
    cells = [name, shown, len(read), *(verdicts[v] for v in (*RIGHT, "false")), _share(read), len(held)]
    return "| " + " | ".join(str(cell) for cell in (*cells, sum(one.is_right for one in held), _share(kept))) + " |"


def _share(judged: Sequence[Judged]) -> str:
    if not judged:
        return "-"
    right = sum(one.is_right for one in judged)
    return f"{100 * right / len(judged):.0f} % ({right} of {len(judged)})"


def is_shown(one: Judged) -> bool:
    """Whether a finding is shown by default, with the points as they are."""
    return one.confirmed or points(one.evidence) >= LIKELY  # type: ignore[arg-type]  # read from JSON


def learned(judged: Iterable[Judged]) -> dict[str, int]:
    """Points as a fixed rule chooses them on these findings; whether they add or take off is as in `POINTS`.

    They are in proportion to the logarithm of an odds ratio: of being right with the evidence, to being right without it. They
    are rounded to 5, from -40 to 20. One right and one false finding are added on each side, so that rare evidence counts
    little."""
    known = list(judged)
    found = {}
    for name, usual in POINTS.items():
        having = [one for one in known if name in one.evidence]
        lacking = [one for one in known if name not in one.evidence]
        chosen = 5 * round(2 * math.log(_odds(having) / _odds(lacking)))
        found[str(name)] = max(0, min(20, chosen)) if usual > 0 else max(-40, min(0, chosen)) if usual < 0 else 0
    return found


def score(evidence: Iterable[str], chosen: Mapping[str, int]) -> int:
    """The score with points that were chosen by `learned`."""
    return START + sum(chosen.get(name, 0) for name in evidence)


def _odds(judged: Sequence[Judged]) -> float:
    right = sum(one.is_right for one in judged)
    return (right + 1) / (len(judged) - right + 1)


if __name__ == "__main__":
    sys.exit(main())
