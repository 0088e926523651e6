"""Why rules of functions are not proved by contracts: `python -m benchmarks.unproved [NAME ...] [--reasons N]`, as Markdown.

Asked are the proofs about all functions of a program at once (`session.portfolio.contract_proofs`): of the rules about blocks
and streams, null and zero. No solver is asked. A pair of a function and a rule is *nothing* where nothing in the function could
violate the rule, *safe*, *if kept* where callers have to keep something, and else *open*. The second table counts the reasons of
the latter two; names and places in them are left out. The programs are those of `benchmarks.real_sources`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from analysis.api import Checker
from analysis.certificate.nonzero.needed_values import RULES as OF_VALUES
from analysis.certificate.ownership.obligations import RULES as OF_BLOCKS
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model.options import Options
from analysis.session.entries import choose_entries
from analysis.session.portfolio.contract_proofs import prove
from analysis.session.portfolio.request import Request, Unknown
from analysis.session.portfolio.request_terms import About
from benchmarks.real_sources import NAMES, provide
from benchmarks.sources import FetchError

RULES = (*sorted(OF_VALUES), *sorted(OF_BLOCKS))
_SECONDS = 1e9  # as long as it takes
_MARK = re.compile(r",? at ⟦.*?⟧\d+⟧")

State = Literal["nothing", "safe", "if kept", "open"]
STATES: tuple[State, ...] = ("nothing", "safe", "if kept", "open")


class Pair(NamedTuple):
    """What is known of a rule in a function, and why no more is."""

    rule: str
    state: State
    reason: str


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unproved", description="Count what is not proved, and why.")
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--reasons", type=int, default=20, help="the most reasons that are shown (default: 20)")
    given = parser.parse_args(arguments)
    reasons: Counter[tuple[str, str]] = Counter()
    print(f"| program | pairs | {' | '.join(STATES)} |\n|---|---|{'---|' * len(STATES)}")
    try:
        for name in given.names or NAMES:
            found = list(pairs(str(provide(name))))
            states = Counter(pair.state for pair in found)
            shares = (f"{100 * states[state] / len(found):.1f} %" for state in STATES)
            print(f"| {name} | {len(found)} | {' | '.join(shares)} |", flush=True)
            reasons.update((pair.rule, general(pair.reason)) for pair in found if pair.state in ("if kept", "open"))
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n| pairs | rule | reason |\n|---|---|---|")
    for (rule, reason), number in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[: given.reasons]:
        print(f"| {number} | {rule} | {reason} |")
    return 0


def pairs(compile_commands: str) -> Iterator[Pair]:
    """The pairs of the functions that the program's own files define."""
    checker = Checker(Options(compile_commands=compile_commands))
    checker.open([])
    view = checker.inspect()
    entries, _ = choose_entries(view.program, (), view.system)
    request = Request(view.program, entries, About("contracts", RULES))
    for one in prove(request, _SECONDS, Cancellation()):
        if one.function in view.system:
            continue
        if not isinstance(one.answer, Unknown):
            yield Pair(one.rule, "safe", "")
        elif one.answer.nothing:
            yield Pair(one.rule, "nothing", "")
        else:
            yield Pair(one.rule, "if kept" if one.answer.is_conditional else "open", one.answer.reason)


def general(reason: str) -> str:
    """A reason without the places and names that are of one program."""
    reason = re.sub(r"`[^`]*`", "`…`", _MARK.sub("", reason))
    return re.sub(r"either order \(.*?\), and", "either order, and", re.sub(r"\b\w+\(\)", "…()", reason)).strip()


if __name__ == "__main__":
    sys.exit(main())
