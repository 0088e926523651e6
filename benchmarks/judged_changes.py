"""What `everproof diff` says of releases of C libraries, against what was judged by hand: `python -m benchmarks.judged_changes`.

`judged_changes.csv` has a finding in each row: of which library, from which release to which, its rule, function and message,
and, where others have the same, the text of a `step` of its trace. By hand, it says whether the change has `introduced` it,
`fixed` it, or left it as it was (`unchanged`), with a sentence that says why. Whether the finding is true is not judged. Where
the old release has the defect, too, and the checker does not see it there, `unchanged` is right and `introduced` is wrong.

The releases are fetched as those of `benchmarks.releases`, from the source distributions of Python packages, by name and digest.
They are checked by the automaton engine, with all findings shown. The exit code is 1 if less than 95 % are told right.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.releases import LIBRARIES, Library, ask, provide
from benchmarks.sources import FetchError

TABLE = Path(__file__).with_suffix(".csv")
STATES = ("introduced", "fixed", "unchanged")
ENOUGH = 0.95
MORE = {
    "miniupnpc": Library(
        package="miniupnpc",
        folder="src",
        more=("include", ""),
        left_out=frozenset({"miniupnpcmodule.c", "minihttptestserver.c"}),
        releases={
            "1.9": "498b35c5443e8de566f3a4de4bceae28fbf6e08ed59afb5ffd516d0bb718bca6",
            "2.0.2": "7ea46c93486fe1bdb31f0e0c2d911d224fce70bf5ea120e4295d647dfe274931",
            "2.2.7": "18583e773b212575ca76b689beff491c4e73c8957be1fe5a7eaf59bdee91359d",
            "2.3.2": "5c21d12b05049b5026a2d8747a4cd80b07b9ae61b898b5dc662497cc7b1b9935",
        },
    ),
    "cmarkgfm": Library(
        package="cmarkgfm",
        folder="third_party/cmark/src",
        more=("generated/unix",),
        releases={
            "0.4.0": "977d7061779c7ebc5cbe7af71adb795ced96058552fe5f6b646d95b5055959be",
            "0.8.0": "fe859b0e98d222b4b458022007daac2757e970f0671d45e55d01931c1b4bb3cb",
            "2022.10.27": "93d9ac7716ea901ca0bfd18ae3b68f1f6bf51de0830c3f233ef734fcd52a0799",
            "2024.11.20": "5dd01cf61975a8a57213cdef5ed870e936032f13fe93d60ddf659ffb9cf73c6a",
        },
    ),
}


class Judged(NamedTuple):
    """A row of the table."""

    library: str
    old: str
    new: str
    rule: str
    function: str
    message: str
    step: str
    state: str
    why: str

    @property
    def releases(self) -> tuple[str, str, str]:
        """The library and the two releases."""
        return self.library, self.old, self.new


def judged() -> list[Judged]:
    """The rows."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return [Judged(**row) for row in csv.DictReader(file)]


def told(row: Judged, document: dict[str, list[dict[str, Any]]]) -> str:
    """What the command says of the finding of a row; empty if it has none such. Several that look alike are judged alike: it is
    told right if one of them is."""
    states = [state for state in STATES for one in document[state] if _is_of(row, one)]
    return row.state if row.state in states else next(iter(states), "")


def _is_of(row: Judged, finding: dict[str, Any]) -> bool:
    if (finding["rule"], finding["function"], finding["message"]) != (row.rule, row.function, row.message):
        return False
    return not row.step or any(row.step == step["text"] for step in finding["trace"])


def compared(rows: Sequence[Judged]) -> Iterator[tuple[Judged, str]]:
    """Each row with what the command says. Raises FetchError."""
    documents = {}
    for row in rows:
        if row.releases not in documents:
            folders = provide(row.library, LIBRARIES.get(row.library) or MORE[row.library])
            words = ["diff", row.old, row.new, "--engine", "automaton", "--show", "all"]
            documents[row.releases] = ask(words, folders[0].parent).document
        yield row, told(row, documents[row.releases])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judged_changes", description="Compare with what was judged.")
    parser.add_argument("names", nargs="*", help="only these libraries")
    given = parser.parse_args(arguments)
    rows = [row for row in judged() if not given.names or row.library in given.names]
    right, asked, wrong = Counter[str](), Counter[str](), list[str]()
    try:
        for row, said in compared(rows):
            asked[row.library] += 1
            right[row.library] += said == row.state
            if said != row.state:
                wrong.append(
                    f"{' '.join(row.releases)}: {row.function}, {row.message}: {said or 'not there'}, not {row.state}. {row.why}"
                )
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("| library | judged | told right |\n|---|---|---|")
    for name, count in asked.items():
        print(f"| {name} | {count} | {right[name]} |")
    print(f"| all | {asked.total()} | {right.total()} |\n")
    print("\n".join(wrong))
    return int(right.total() < ENOUGH * asked.total())


if __name__ == "__main__":
    sys.exit(main())
