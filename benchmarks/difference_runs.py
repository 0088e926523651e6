"""One verifier on one task of difference verification, in a process of its own, with the seconds of the processor.

A native verifier looks for a proof with one engine, and for a run with the defect (`session.portfolio`). A difference verifier
does that in the program that is left (`engines.difference.restricted_program`). CBMC gets texts: the new version, or the residual
program. It is asked with growing bounds until one leaves out nothing.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.cfa.revisions.delta import Revision, program_change
from analysis.engines.difference.difference_condition import Condition
from analysis.engines.difference.extraction import Method, difference_condition
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.engines.difference.residual_program import residual_program
from analysis.engines.difference.restricted_program import restricted
from analysis.engines.symbolic import Confirmed
from analysis.model.options import Engine
from analysis.session.portfolio.asking import ask
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import About, Kind, Terms
from benchmarks import cbmc
from benchmarks.difference_tasks import Task

Verifier = Literal["predicate", "value", "symbolic", "cbmc"]
How = Literal["complete", "diffCond", "diffDP"]
Said = Literal["proof", "alarm", "unknown"]
_TURNS = (("program", 0.3), ("runs", 0.6), ("program", 1.0))
_BOUNDS = (3, 12, 60, 300)
_MOST_BYTES = 6 << 30
_PATIENCE = 40  # times the limit by the clock, after which a process that does nothing is ended
NOTHING = "nothing in the new version could violate it"
_ASSUMED: tuple[Literal["allocations-succeed"], ...] = ("allocations-succeed",)


_Send = Callable[["Run"], None]


class Run(msgspec.Struct, frozen=True):
    """What came of it. Seconds of the processor: `reading` the new version, after the old one where that is known; `extraction`,
    with reading the old version; and `verification`. `extracted`: the condition was made. `left`: the share of the edges that it
    leaves, None without one."""

    said: Said
    reading: float
    extraction: float
    verification: float
    extracted: bool = True
    left: float | None = None
    why: str = ""

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.reading + self.extraction + self.verification


def run(task: Task, verifier: Verifier, how: How, limit: float, command: Sequence[str] = ()) -> Run:
    """The run, ended after `limit` seconds of the processor. `command` is CBMC's."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _in_child(lambda send: _run(task, verifier, how, limit, command, send), writing, limit)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        sent = file.read()
    os.waitpid(child, 0)
    lines = sent.splitlines()
    return msgspec.json.decode(lines[-1], type=Run) if lines else _cut_off(limit, extracted=how == "complete")


def _cut_off(limit: float, *, extracted: bool, reading: float = 0.0, extraction: float = 0.0, left: float | None = None) -> Run:
    """What is known of a run that was ended."""
    return Run("unknown", reading, extraction, limit, extracted, left, "the time is used up")


def _in_child(work: Callable[[_Send], Run], to: int, limit: float) -> None:
    """Does the work, sends what came of it, a line each, and ends the process."""

    def send(found: Run) -> None:
        os.write(to, msgspec.json.encode(found) + b"\n")

    gc.disable()  # as the command line does while it reads
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 2, int(limit) + 4))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE * limit + 10)
    try:
        send(work(send))
    except BaseException as error:  # whatever it is: this process must not go on as its parent does
        send(Run("unknown", 0.0, 0.0, limit, extracted=False, why=repr(error)[:200]))
    finally:
        os._exit(0)


def _spent() -> float:
    """The seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _run(task: Task, verifier: Verifier, how: How, limit: float, command: Sequence[str], send: _Send) -> Run:
    began, checker = _spent(), Checker(task.options, expects_edits=how != "complete")
    checker.open((str(task.path),))
    if how == "complete":
        new = _revision(checker, task.path, task.new)
        reading = _spent() - began
        if not has_places(task, new.program):
            return Run("unknown", reading, 0.0, 0.0, why=NOTHING)
        reading = 0.0 if verifier == "cbmc" else reading  # CBMC reads the text itself, and does not need ours
        asked, seconds = _spent(), limit - reading
        said, why = _verified(task, new.program, verifier, seconds, command, task.new, is_preprocessed=task.is_preprocessed)
        return Run(said, reading, 0.0, _spent() - asked, why=why)
    old = _revision(checker, task.path, task.old)
    read_old = _spent()
    new = _revision(checker, task.path, task.new)
    reading = _spent() - read_old
    programs = ProgramPair(old, new, program_change(old, new))
    condition = difference_condition(programs, "main", _method(how), task.goal)
    left, text = programs.new.program, ""
    if verifier != "cbmc":
        left = restricted(left, {"main": condition}, ("main",))
    elif not condition.covers_all:
        text = _residual(programs, condition)
    extraction = _spent() - began - reading
    if verifier == "cbmc":
        left = restricted(left, {"main": condition}, ("main",))  # for the table alone
    share = _edges(left) / max(1, _edges(programs.new.program))
    if not has_places(task, programs.new.program):
        return Run("unknown", reading, extraction, 0.0, why=NOTHING)
    if condition.covers_all:
        return Run("proof", reading, extraction, 0.0, left=0.0)
    send(_cut_off(limit, extracted=True, reading=reading, extraction=extraction, left=share))
    asked = _spent()
    said, why = _verified(task, left, verifier, limit - reading - extraction, command, text, is_preprocessed=True)
    return Run(said, reading, extraction, _spent() - asked, left=share, why=why)


def has_places(task: Task, program: Program) -> bool:
    """Whether anything in a program could violate the rules of a task: else there is nothing to verify, and no answer counts."""
    if "main" not in program.functions:
        return False
    request = Request(program, ("main",), About("program", task.rules), terms=Terms(task.model))
    return any(request.places(rule) for rule in task.rules)


def _method(how: How) -> Method:
    return "diffCond" if how == "diffCond" else "diffDP"


def _revision(checker: Checker, path: Path, text: str) -> Revision:
    """The program with this text; the checker takes over what was so in the text before."""
    checker.change(str(path), text)
    view = checker.inspect()
    return Revision(view.program, view.places, view.unparsed, view.system)


def _residual(programs: ProgramPair, condition: Condition) -> str:
    return residual_program(programs.new.program, programs.new.places, [condition]).decode("utf-8", "surrogateescape")


def _edges(program: Program) -> int:
    return sum(len(cfa.edges) for cfa in program.functions.values())


# -- verification --------------------------------------------------------------------------------------------------


def _verified(
    task: Task,
    program: Program,
    verifier: Verifier,
    seconds: float,
    command: Sequence[str],
    text: str,
    *,
    is_preprocessed: bool,
) -> tuple[Said, str]:
    if "main" not in program.functions:
        return "unknown", "it does not parse"
    if verifier == "cbmc":
        return _by_cbmc(task, text, seconds, command, is_preprocessed=is_preprocessed)
    return _natively(task, program, verifier, seconds)


def _natively(task: Task, program: Program, engine: Engine, seconds: float) -> tuple[Said, str]:
    """What an engine says, with runs that look for the defect."""
    gc.freeze()  # as in a prover process
    gc.enable()
    began, why = time.process_time(), ""
    open_ = set(task.rules)
    for kind, until in _TURNS:
        left = began + until * seconds - time.process_time()
        if left <= 0 or not open_:
            continue
        for rule, answer in _asked(task, program, engine, kind, tuple(sorted(open_)), left).items():
            if isinstance(answer, Confirmed):
                return "alarm", ""
            if kind == "program" and _is_proved(answer):
                open_.discard(rule)
            elif isinstance(answer, Unknown):
                why = answer.reason
    return ("unknown", why) if open_ else ("proof", "")


def _asked(task: Task, program: Program, engine: Engine, kind: str, rules: tuple[str, ...], seconds: float) -> dict[str, Answer]:
    named: Kind = "runs" if kind == "runs" else "program"
    terms = Terms(task.model, "symbolic" if named == "runs" else engine, "auto", _ASSUMED)
    return ask(Request(program, ("main",), About(named, rules), terms=terms), seconds).by_rule


def _is_proved(answer: Answer) -> bool:
    return isinstance(answer, Proved) or (isinstance(answer, Unknown) and answer.nothing)


def _by_cbmc(task: Task, text: str, seconds: float, command: Sequence[str], *, is_preprocessed: bool) -> tuple[Said, str]:
    flags = task.options.flags
    began, why = _spent(), "no bound is enough"
    question = cbmc.Question((task.path,), text, flags.include_dirs, flags.defines, task.model, is_preprocessed)
    if not is_preprocessed:  # once for all bounds
        question = question._replace(text=cbmc.preprocessed(task.path, question, text), is_preprocessed=True)
        if question.text is None:
            return "unknown", "the preprocessor failed"
    for bound in _BOUNDS:
        left = seconds - (_spent() - began)
        if left <= 0.1:
            break
        found = cbmc.ask(command, question, bound, _PATIENCE * left, processor=left)
        if found.answer == "complete":
            return "proof", ""
        if found.answer == "violated":
            return "alarm", ""
        if found.answer == "unknown":
            return "unknown", found.why
    return "unknown", why
