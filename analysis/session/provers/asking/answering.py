"""What the provers do: answer one question each. The portfolio's engines, and z3 with them, are loaded with this module, so only
in their processes.

What is answered depends on the question alone. A process keeps the program that it was sent last, and the parts of it, since the
next question is often about the same, or about one in which a function differs: what the engine knows of parts of it stays.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from analysis.certificate import text
from analysis.certificate.annotation import Proof
from analysis.certificate.invariants import invariants
from analysis.cfa.graph import Program
from analysis.cpa.framework.algorithm import Cancellation
from analysis.engines.symbolic import Confirmed, Refuted
from analysis.model import clock
from analysis.model.assumptions import FOUND, GIVEN
from analysis.model.collecting import without_collecting
from analysis.model.report import ProofReuse, SummaryWork
from analysis.session.portfolio import contract_proofs
from analysis.session.portfolio.asking import Answers, ask
from analysis.session.portfolio.request import Answer, Bounded, Proved, Request, Unknown
from analysis.session.portfolio.searched_runs import ENGINE
from analysis.session.portfolio.turns import BOUNDED
from analysis.session.provers.asking.answer import Decided, Invariant, Part, Ran
from analysis.session.provers.asking.program_slices import Slice
from analysis.session.provers.asking.question import Question
from analysis.session.provers.asking.run_starts import run_start
from analysis.smt.solving.z3_backend import Z3Solver
from analysis.smt.solving.z3_contexts import make_ready


class _Programs:
    """Makes programs of what is sent. The last one is kept, and the parts of it: those that stay are the same objects again."""

    def __init__(self) -> None:
        self._parts: dict[bytes, Any] = {}
        self._last: tuple[str, Program] | None = None

    def of(self, sent: Slice) -> Program:
        """The program that was sent."""
        if self._last is not None and self._last[0] == sent.digest:
            return self._last[1]
        tables = (sent.functions, sent.globals, sent.externals, sent.records)
        known = self._parts
        self._parts = {data: known[data] if data in known else pickle.loads(data) for table in tables for data in table.values()}
        functions, globals_, externals, records = ({name: self._parts[data] for name, data in table.items()} for table in tables)
        program = Program(functions, globals_, externals, records, sent.address_taken, frozenset(sent.exposed))
        self._last = sent.digest, program
        return program


_programs, _whole_programs = _Programs(), _Programs()


def answer(question: Question) -> Decided:
    """The answer to a question."""
    worked, before = clock.spent(), Z3Solver.checks
    is_of_all = question.about.kind == "contracts"
    program = (_whole_programs if is_of_all else _programs).of(question.program)
    request = Request(program, question.program.entries, question.about, question.whole, question.terms, question.kept)
    if is_of_all:
        with without_collecting():  # what is found is kept, and holds no cycles
            decided = _by_contracts(request, question.seconds)
    else:
        decided = _decided(request, ask(request, question.seconds, part=question.part))
    if question.part == "earlier" and not _is_proof(decided):
        decided = msgspec.structs.replace(decided, final=False)  # others were not asked
    tried = 0.0 if decided.final or question.part == "earlier" else question.seconds
    return msgspec.structs.replace(decided, queries=Z3Solver.checks - before, tried=tried, worked=clock.spent() - worked)


def prepare() -> bool:
    """Does a little for questions to come, while there are none; whether there is more to do. That of an edit about a proof takes
    less time than z3 takes to begin."""
    return make_ready()


def _is_proof(decided: Decided) -> bool:
    """Whether all is proved that can be."""
    return decided.status == "refuted" or (decided.final and any(part.certified for part in decided.parts))


def _by_contracts(request: Request, seconds: float) -> Decided:
    """What is said of all functions: a part for each that something else is said of."""
    functions, final, states = dict[Part, list[str]](), True, 0
    runs = list[Part]()
    for found in contract_proofs.prove(request, seconds, Cancellation()):
        answer = found.answer
        if isinstance(answer, Confirmed):
            runs.append(msgspec.structs.replace(_part(request, found.rule, answer), functions=(found.function,)))
            continue
        final = final and not (isinstance(answer, Unknown) and not answer.final)
        states += answer.states if isinstance(answer, Proved) else 0
        no_place = isinstance(answer, Unknown) and answer.nothing
        said = _at(request.program, found.function, answer.loops) if isinstance(answer, Proved) else ()
        part = _part(request, found.rule, answer)
        part = msgspec.structs.replace(part, entries=found.entries, no_place=no_place, invariants=said)
        functions.setdefault(part, []).append(found.function)
    parts = tuple(msgspec.structs.replace(part, functions=tuple(names)) for part, names in functions.items())
    return Decided("possible", final, states=states, parts=(*parts, *runs))


def _decided(request: Request, answers: Answers) -> Decided:
    """The answer to a request as it is reported: of one rule, or of each of several."""
    if request.about.kind != "runs":
        ((rule, found),) = answers.by_rule.items()
        part = _part(request, rule, found)
        return Decided(
            part.status,
            final=not isinstance(found, Unknown | Bounded) or found.final,
            reason=part.reason,
            observed=part.observed,
            assumptions=part.assumptions,
            steps=part.steps,
            looked=found.looked if isinstance(found, Unknown) else (),
            states=answers.states,
            invariants=_invariants(request, found) if isinstance(found, Proved) else (),
            engine=part.engine,
            certified=part.certified,
            certificates=part.certificates,
            unreached=part.unreached,
            within=found.within if isinstance(found, Bounded) else None,
            kept=found.kept if isinstance(found, Bounded | Proved) else None,
            reuse=found.reuse if isinstance(found, Proved) else ProofReuse(),
            is_reused=isinstance(found, Proved) and found.reuse != ProofReuse(),
            broken=found.broken if isinstance(found, Unknown) else "",
            summaries=found.work if isinstance(found, Bounded) else SummaryWork(),
            repairs=found.repairs if isinstance(found, Bounded) else {},
            run=part.run,
        )
    final = all(not isinstance(found, Unknown | Bounded) or found.final for found in answers.by_rule.values())
    parts = tuple(_part(request, rule, found) for rule, found in sorted(answers.by_rule.items()))
    return Decided("possible", final, states=answers.states, parts=parts)


def _part(request: Request, rule: str, found: Answer) -> Part:
    match found:
        case Confirmed():
            steps = tuple(Ran(step.function, step.edge, step.depth, step.values) for step in found.steps)
            run = run_start(request.program, found, request.model)
            return Part(rule, "confirmed", "", found.observation.text, found.assumptions, steps, ENGINE, run=run)
        case Refuted():
            return Part(rule, "refuted", assumptions=(*found.assumptions, *_assumed(request)), engine=ENGINE)
        case Proved():
            texts = tuple(_texts(request, found.certificates)) if request.terms.certificates else ()
            assumptions, engine = tuple(dict.fromkeys(found.assumptions)), found.engine
            missed = tuple(function for function, _ in found.unreached)
            return Part(
                rule,
                "refuted",
                assumptions=assumptions,
                engine=engine,
                certified=True,
                certificates=texts,
                unreached=missed,
                kept=found.kept if request.about.kind == "runs" else None,
            )
        case Bounded():
            return Part(rule, "possible", found.sentence, assumptions=found.assumptions, engine=BOUNDED)
    return Part(rule, "possible", found.reason)


def _assumed(request: Request) -> tuple[str, ...]:
    """The assumptions of the terms, as sentences."""
    terms = request.terms
    return tuple(said.sentence for said, holds in ((FOUND, terms.allocation_fails), (GIVEN, terms.outside_writes)) if not holds)


def _texts(request: Request, certificates: Iterable[text.Certified]) -> Iterable[str]:
    for certificate in certificates:
        yield text.write([certificate], request.program, request.terms.data_model)


def _invariants(request: Request, proved: Proved) -> tuple[Invariant, ...]:
    """The invariants of the function that was asked about; of several entries, none, since each has its own."""
    function = request.about.function
    if function is None or len(proved.certificates) != 1:
        return ()
    (certificate,) = proved.certificates
    if not isinstance(certificate, Proof):
        return ()
    return _at(request.program, function, invariants(request.program, certificate, function, request.model).items())


def _at(program: Program, function: str, said: Collection[tuple[int, str]]) -> tuple[Invariant, ...]:
    """What is said at locations of a function, as invariants."""
    first: dict[int, int] = {}
    for number, edge in enumerate(program.functions[function].edges if said else ()):
        first.setdefault(edge.source, number)
    return tuple(Invariant(first[location], text) for location, text in said)
