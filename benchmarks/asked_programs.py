"""Asks provers about one whole program in this process, as `everproof check` does: for benchmarks of thousands of programs."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from analysis.certificate.text import Certified
from analysis.cfa.marks import with_places
from analysis.engines.symbolic import Confirmed, ProgramTask
from analysis.model import clock
from analysis.model.options import Encoding
from analysis.session.portfolio.asking import ask
from analysis.session.portfolio.request import Proved, Request, Unknown
from analysis.session.portfolio.request_terms import About, Kind, Terms
from analysis.session.portfolio.turns import TURNS

Engine = Literal["value", "symbolic", "predicate", "auto"]
ENGINES: tuple[Engine, ...] = get_args(Engine)


class ProgramAnswer(msgspec.Struct, frozen=True):
    """`safe`: no run violates any of the rules; `certificates` has accepted proofs of that. `violated`: `confirmed` is
    the run. `unknown`: `reason` says why; of `safe`, whether there are places that no run reaches."""

    verdict: Literal["safe", "violated", "unknown"]
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    confirmed: Confirmed | None = None
    certificates: tuple[Certified, ...] = ()


def answer(task: ProgramTask, engine: Engine = "auto", encoding: Encoding = "auto") -> ProgramAnswer:
    """What `check` asks about a whole program, asked one after the other: proofs for a share of the time, runs, proofs again.
    KeyError if there is no `main`."""
    task.program.functions["main"]
    terms = Terms(task.model.name, engine, encoding, _assumed(task))
    began, reasons, proved = clock.spent(), list[str](), dict[str, Proved]()
    if not task.rules:
        return ProgramAnswer("unknown", "there is no rule")
    steps: tuple[tuple[Kind, float], ...] = (("program", 0.15), ("runs", 0.55), ("program", 1.0))
    for kind, until in steps:
        rules = tuple(sorted(task.rules - proved.keys()))
        seconds = began + until * task.effort.seconds - clock.spent()
        if not rules or not TURNS[kind][engine] or seconds <= 0:
            continue
        found = ask(Request(task.program, ("main",), About(kind, rules), terms=terms), seconds)
        run = next((one for one in found.by_rule.values() if isinstance(one, Confirmed)), None)
        if run is not None:
            return ProgramAnswer("violated", assumptions=run.assumptions, confirmed=run)
        proved.update({rule: one for rule, one in found.by_rule.items() if isinstance(one, Proved)})
        reasons = [one.reason for one in found.by_rule.values() if isinstance(one, Unknown)] + reasons
    if proved.keys() != task.rules:
        return ProgramAnswer("unknown", with_places("; ".join(dict.fromkeys(reasons)), task.program, None))
    assumptions = dict.fromkeys(assumption for proof in proved.values() for assumption in proof.assumptions)
    certificates = {id(one): one for proof in proved.values() for one in proof.certificates}
    missed = {place for proof in proved.values() for place in proof.unreached}
    note = f"no run reaches {len(missed)} of the places where a rule could be violated" if missed else ""
    return ProgramAnswer("safe", note, tuple(assumptions), certificates=tuple(certificates.values()))


def _assumed(task: ProgramTask) -> tuple[Literal["allocations-succeed", "externals-keep-globals"], ...]:
    succeed: tuple[Literal["allocations-succeed"], ...] = () if task.allocation_fails else ("allocations-succeed",)
    keep: tuple[Literal["externals-keep-globals"], ...] = () if task.outside_writes else ("externals-keep-globals",)
    return (*succeed, *keep)
