"""How much is found of defects that are seeded into real projects: `python -m benchmarks.recall [PROJECT ...]`, as Markdown.

`benchmarks.recall_sites` says which defects are seeded, `benchmarks.recall_seeds` how they are drawn; `benchmarks/recall.csv` has
a row for each, with a judgement by hand: whether it is a defect that a run can do, and why. Only those that are count. What
Everproof finds is measured by edits of the open project (`benchmarks.recall_found`), what others find on the file alone
(`benchmarks.recall_peers`).

    --part open|held|all    which seeds (default: all); nobody looked at what comes of the `held` ones one by one
    --list                  each seed of the open part, and what came of it
    --engine E              as for `everproof check` (default: automaton)
    --peers                 also cppcheck, clang and gcc, which must be on PATH
    --draw                  draw the candidates again, and keep the judgements of those that are the same
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from benchmarks.recall_found import Found, found
from benchmarks.recall_peers import TOOLS, finds, version
from benchmarks.recall_seeds import JUDGEMENTS, PROJECTS, drawn, judged, written
from benchmarks.recall_sites import OPERATORS
from benchmarks.sources import FetchError


class Row(NamedTuple):
    """A seed, what came of it, and which of the other tools found it; None if they were not asked."""

    found: Found
    peers: frozenset[str] | None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description="How much is found of seeded defects.")
    parser.add_argument("projects", nargs="*", help=f"which ones: {', '.join(PROJECTS)} (default: all)")
    parser.add_argument("--part", choices=("open", "held", "all"), default="all")
    parser.add_argument("--list", action="store_true", help="each seed of the open part")
    parser.add_argument("--engine", choices=("automaton", "auto"), default="automaton")
    parser.add_argument("--peers", action="store_true", help=f"also {', '.join(TOOLS)}")
    parser.add_argument("--draw", action="store_true", help="draw the candidates again")
    given = parser.parse_args(arguments)
    for name in given.projects:
        if name not in PROJECTS:
            parser.error(f"no project {name!r}; there are {', '.join(PROJECTS)}")
    try:
        if given.draw:
            return _draw()
        rows = list(_rows(given))
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(table("operator", OPERATORS, rows, lambda row: row.found.seed.site.operator))
    print(table("project", PROJECTS, rows, lambda row: row.found.seed.project))
    print(table("part", ("open", "held"), rows, lambda row: row.found.seed.part))
    if given.peers:
        print("\n".join(version(tool) for tool in TOOLS))
    return 0


def _draw() -> int:
    """Writes the candidates; judgements of the same seeds are kept."""
    known = {(seed.project, seed.digest): seed for seed in judged()} if JUDGEMENTS.is_file() else {}
    seeds = [known.get((seed.project, seed.digest), seed) for seed in drawn()]
    written(seeds)
    print(f"{len(seeds)} candidates, {sum(1 for seed in seeds if seed.is_defect is None)} of them wait for a judgement")
    return 0


def _rows(given: argparse.Namespace) -> Iterator[Row]:
    projects = [name for name in PROJECTS if name in (given.projects or PROJECTS)]
    seeds = [seed for seed in judged(projects) if seed.is_defect and given.part in ("all", seed.part)]
    for project in projects:
        of_project = [seed for seed in seeds if seed.project == project]
        for outcome in found(project, of_project, given.engine) if of_project else ():
            peers = frozenset(tool for tool in TOOLS if finds(tool, outcome.seed)) if given.peers else None
            if given.list and outcome.seed.part == "open":
                print(_line(outcome, peers), flush=True)
            yield Row(outcome, peers)


def _line(outcome: Found, peers: frozenset[str] | None) -> str:
    seed = outcome.seed
    said = "; ".join(f"{finding.rule} {finding.score}: {finding.message}" for finding in (*outcome.fitting, *outcome.others))
    others = "" if peers is None else f" [{', '.join(sorted(peers))}]"
    what = f"{outcome.outcome:9} {seed.project} {seed.site.operator} {seed.place} {seed.site.function}"
    why = f" <{outcome.reason}>" if outcome.outcome == "missed" else ""
    return f"{what}: {seed.why}{others} {outcome.seconds:.1f} s ({said}){why}"


def table(title: str, groups: Sequence[str], rows: Sequence[Row], group_of: Callable[[Row], str]) -> str:
    """How many seeds of each group, and of all of them, are found and shown, held back, and missed; and found by other tools."""
    tools = TOOLS if rows and rows[0].peers is not None else ()
    titles = (title, "seeds", "shown", "held back", "missed", "found and shown", *tools)
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for group in (*groups, "all"):
        of_group = [row for row in rows if group in ("all", group_of(row))]
        if of_group:
            lines.append(f"| {' | '.join((group, *_cells(of_group, tools)))} |")
    return "\n".join(lines) + "\n"


def _cells(rows: Sequence[Row], tools: Sequence[str]) -> Iterator[str]:
    outcomes = Counter(row.found.outcome for row in rows)
    yield str(len(rows))
    for outcome in ("shown", "held back", "missed"):
        yield str(outcomes[outcome])
    yield f"{100 * outcomes['shown'] / len(rows):.0f} %"
    for tool in tools:
        yield str(sum(1 for row in rows if row.peers is not None and tool in row.peers))


if __name__ == "__main__":
    sys.exit(main())
