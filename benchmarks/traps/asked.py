"""Engines asked about a trap: the verdict, and whether a process of its own accepts the certificates of `safe`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from analysis.api import Checker
from analysis.certificate import text
from analysis.cfa.graph import Program
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask
from analysis.model.c_types import ILP32, LP64
from analysis.model.options import Engine, Options
from analysis.session.portfolio.asking import ask
from analysis.session.portfolio.request import Bounded, Request, Unknown
from analysis.session.portfolio.request_terms import About, Terms
from benchmarks.asked_programs import answer
from benchmarks.traps.programs import Trap

ENGINES: tuple[Engine, ...] = get_args(Engine)
Encoding = Literal["int", "bv"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)


class Said(NamedTuple):
    """What an engine says of a trap. `why`: the reason, or the violation that was seen. `refused`: what the process that checks
    the certificates of `safe` says against them, empty if it accepts them."""

    verdict: Literal["safe", "violated", "unknown"]
    why: str = ""
    refused: str = ""


def wrong(trap: Trap, said: Said) -> str:
    """Why the verdict is wrong; empty if it is not."""
    if trap.is_defect and said.verdict == "safe":
        return f"{trap.name}: safe, and a run violates {trap.rule}"
    if not trap.is_defect and said.verdict == "violated":
        return f"{trap.name}: a violation is confirmed that no run shows: {said.why}"
    return f"{trap.name}: the certificate of its proof is refused: {said.refused}" if said.refused else ""


def asked(trap: Trap, engine: Engine, encoding: Encoding, seconds: float) -> Said:
    """What an engine says that encodes integers so, within so many seconds."""
    checker = Checker(Options(engine=engine, encoding=encoding, data_model=trap.model, rules=(trap.rule,)))
    checker.open([str(file) for file in trap.files])
    if engine == "automaton":
        report = checker.check()
        verdicts = {verdict.verdict for function in report.functions for verdict in function.verdicts.values()}
        is_confirmed = any(finding.status == "confirmed" for finding in report.findings)
        return Said("violated" if is_confirmed else "safe" if "safe" in verdicts else "unknown")
    inspection = checker.inspect()
    if inspection.unparsed:
        return Said("unknown", "not all of the program is parsed")
    model = LP64 if trap.model == "LP64" else ILP32
    if engine == "summary":
        return _within_bound(trap, inspection.program, encoding, seconds)
    task = ProgramTask(inspection.program, frozenset({trap.rule}), Effort(seconds=seconds), model)
    found = answer(task, engine, encoding)
    if found.verdict == "safe":
        return Said("safe", refused=refusal(trap, inspection.program, found.certificates))
    return Said(found.verdict, found.reason if found.confirmed is None else found.confirmed.observation.text)


def _within_bound(trap: Trap, program: Program, encoding: Encoding, seconds: float) -> Said:
    """Asks for an answer within a bound. It counts as safe here if the bound leaves out no run. It has no certificate."""
    terms = Terms(trap.model, "summary", encoding)
    found = ask(Request(program, ("main",), About("program", (trap.rule,)), terms=terms), seconds).by_rule[trap.rule]
    match found:
        case Bounded():
            return Said("safe" if found.within.holds and found.within.complete else "unknown", found.sentence)
        case Confirmed():
            return Said("violated", found.observation.text)
        case Unknown():
            return Said("unknown", found.reason)
    raise TypeError(f"summaries answer nothing like {found}")


def refusal(trap: Trap, program: Program, proofs: tuple[text.Certified, ...]) -> str:
    """What `everproof certify`, in a process of its own, says against the certificates."""
    if not proofs:
        return "there is none"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.json"
        file.write_text(text.write(proofs, program, trap.model), "utf-8")
        words = ("certify", "--data-model", trap.model, str(file), *(str(each) for each in trap.files))
        done = subprocess.run([sys.executable, "-m", "analysis.cli", *words], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{done.stdout}{done.stderr}".strip() or f"code {done.returncode}"


Question = tuple[Trap, Engine, Encoding, float]


def answered(question: Question) -> tuple[Question, Said, str]:
    """What is said, and what is wrong with it; also where the answer is an exception, which must not end a long run."""
    try:
        said = asked(*question)
    except Exception as problem:
        return question, Said("unknown"), f"{question[0].name}: crash: {type(problem).__name__}: {problem}"
    return question, said, wrong(question[0], said)
