"""A confirmed finding as it is reported: the trace is the run that was executed, with the values at each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from analysis.cfa import marks
from analysis.cfa.graph import Edge, Places, Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.unnamed_values import without_temporaries
from analysis.cfa.written_steps import written_step
from analysis.model import ir
from analysis.model.digest import digest_text
from analysis.model.evidence import Evidence
from analysis.model.report import Finding, RuleVerdict, StepKind, TraceStep
from analysis.model.run_inputs import RunStart
from analysis.model.spelling import display_name, spell_effect, spell_expr
from analysis.path_following.at_fault import at_fault
from analysis.path_following.explanation import Step, needed_steps, shortened
from analysis.rules.automaton import Rule
from analysis.session.provers.asking.answer import Decided, Ran
from analysis.session.provers.asking.program_answers import Run
from analysis.session.provers.block_steps import block_steps, repeats
from analysis.session.provers.open_reasons import open_reason

ENGINE = "symbolic"
_OF_FUNCTION: Evidence = "whatever-called"
_NULL_POINTER, _NULL = "null pointer", "NULL"  # in what a run has seen, and as the value of a variable


def with_decision(finding: Finding, decided: Decided | None, program: Program, places: Places, limit: int) -> Finding:
    """The finding with what a prover says of it; at most `limit` steps are shown (`shortened`)."""
    if decided is None:
        return finding
    if decided.status != "confirmed":
        reason = marks.with_places(decided.reason, program, places)
        return msgspec.structs.replace(finding, reason=open_reason(reason, finding.rule) or None)
    if not _comes_from_there(finding, decided, program, places):
        finding = msgspec.structs.replace(finding, since="")
    trace = shortened(_trace(finding, decided.steps, program, places), limit)
    explaining = tuple(number for number, (_, is_needed) in enumerate(trace) if is_needed)
    shown_trace = tuple(step for step, _ in trace)
    return msgspec.structs.replace(
        finding,
        status="confirmed",
        trace=shown_trace,
        explaining=explaining,
        assumptions=decided.assumptions,
        run=None if decided.run is None else _placed(decided.run, places),
    )


def _placed(run: RunStart, places: Places) -> RunStart:
    made_at = tuple(places.place(*one) for one in run.made)
    asked_at = tuple((function, places.place(function, edge)) if edge >= 0 else None for function, edge in run.asked)
    return msgspec.structs.replace(run, made_at=made_at, asked=(), asked_at=asked_at)


def shown(run: Run, rules: Mapping[str, Rule], program: Program, places: Places, limit: int) -> Finding:
    """A run as a finding of its own, where nobody suspected one: the violation is where the run ends."""
    rule, last = rules[run.rule], run.decided.steps[-1]
    place, function = places.place(last.function, last.edge), display_name(last.function)
    observed = run.decided.observed
    is_whole = observed.endswith(rule.summary.removeprefix("Something"))  # "`x` is read before it has a value"
    message = observed if is_whole else f"{rule.summary}: {observed}"
    text = without_temporaries(spell_effect(program.functions[last.function].by_id[last.edge].effect))
    fingerprint = digest_text(rule.name, function, rule.summary, text.replace(place.path, "__FILE__"))
    finding = Finding(rule.name, "possible", rule.severity, message, place, function, fingerprint, ())
    found = with_decision(finding, run.decided, program, places, limit)
    if run.decided.steps[0].function == MAIN or run.decided.run is None or run.decided.run.entry == MAIN:
        return found
    return msgspec.structs.replace(found, status="possible", evidence=(_OF_FUNCTION,), reason=None, run=None)


def is_of_function(finding: Finding) -> bool:
    """Whether runs of a function by itself showed the finding (`shown`)."""
    return _OF_FUNCTION in finding.evidence


def runs_beside(
    done: Sequence[Finding],
    decisions: Mapping[str, Decided | None],
    runs: Sequence[Run],
    rules: Mapping[str, Rule],
    program: Program,
    places: Places,
    limit: int,
) -> list[Finding]:
    """The runs that are no findings yet, as findings. `done` are those that there are; `decisions` says by fingerprint what was
    said of them."""
    confirmed = [(one.rule, said) for one in done if one.status == "confirmed" and (said := decisions.get(one.fingerprint))]
    places_known = {(one.rule, one.place) for one in done}
    # a finding at a call can be confirmed by a run that ends in the function called
    places_known |= {(rule, places.place(last.function, last.edge)) for rule, said in confirmed for last in said.steps[-1:]}
    found = []
    for run in runs:
        if run.rule not in rules or any(rule == run.rule and repeats(run.decided, said, program) for rule, said in confirmed):
            continue
        finding = shown(run, rules, program, places, limit)
        if (finding.rule, finding.place) not in places_known:
            places_known.add((finding.rule, finding.place))
            found.append(finding)
    return found


def violated_verdict(verdict: RuleVerdict, finding: Finding) -> RuleVerdict:
    """The verdict of a function that a finding was confirmed in."""
    return RuleVerdict("violated", None, finding.assumptions, ENGINE, ms=verdict.ms)


def _comes_from_there(finding: Finding, decided: Decided, program: Program, places: Places) -> bool:
    """Whether the value can come, in the run, from where it does on the path that was possible. A run can reach the same place by
    another way: a null pointer does not come from a step that the run never makes, or that has given other values only."""
    origin = next((step for step in finding.trace if finding.since.startswith(f"`{step.text}`")), None)
    if origin is None or _NULL_POINTER not in decided.observed:
        return True
    given = [_given(step, program) for step in decided.steps if _is_at(step, origin, program, places)]
    return None in given or _NULL in given


def _is_at(step: Ran, shown: TraceStep, program: Program, places: Places) -> bool:
    """Whether a step of a run is what a trace shows."""
    cfa = program.functions[step.function]
    if places.place(step.function, step.edge) != shown.place:
        return False
    return written_step(cfa.by_id[step.edge].effect, places.written(cfa.name, step.edge), cfa)[0] == shown.text


def _given(step: Ran, program: Program) -> str | None:
    """The value that a step of a run has assigned; None if it was not seen."""
    target = ir.target_of(program.functions[step.function].by_id[step.edge].effect)
    return None if target is None else step.values.get(spell_expr(target))


def _trace(finding: Finding, steps: Sequence[Ran], program: Program, places: Places) -> list[tuple[TraceStep, bool]]:
    """The steps of a run that people see, each with whether it explains the finding."""
    first, last = steps[0], steps[-1]
    name = display_name(first.function)
    needed = _needed(finding, steps, program, places)
    trace = [(TraceStep(places.name_place(first.function), name, 0, "entry", f"{name} is entered"), 0 in needed)]
    for number, step in enumerate(steps[:-1], 1):
        cfa = program.functions[step.function]
        edge = cfa.by_id[step.edge]
        kind = _kind(edge, step)
        if kind is not None:
            text = written_step(edge.effect, places.written(cfa.name, edge.id), cfa)[0]
            trace.append((_step(step, places, kind, text), number in needed))
    return [*trace, (_step(last, places, "error", finding.message), True)]


def _needed(finding: Finding, steps: Sequence[Ran], program: Program, places: Places) -> frozenset[int]:
    """The numbers of the steps that explain a run, counted from its entry. What made the value on the path that was possible
    does so in the run; a finding that is about no value may be about a block of memory or a resource."""
    made = finding.explanation[:-1] if finding.since else ()
    known = {(step.place, step.text) for step in made if step.kind in ("assign", "call")}
    of_block = frozenset() if finding.since else block_steps(finding.message, steps, program)
    path = [Step(steps[0].function, 0, -1)]
    for number, step in enumerate(steps):
        cfa = program.functions[step.function]
        edge = cfa.by_id[step.edge]
        text, _ = written_step(edge.effect, places.written(cfa.name, edge.id), cfa)
        is_value = number in of_block or (places.place(step.function, step.edge), text) in known
        path.append(Step(step.function, step.depth, step.edge, is_value=is_value, values=step.values))
    last = steps[-1]
    about = at_fault(finding.rule, program.functions[last.function].by_id[last.edge].effect, last.values)
    return frozenset(needed_steps(program, path, about))


def _step(step: Ran, places: Places, kind: StepKind, text: str) -> TraceStep:
    place = places.place(step.function, step.edge)
    return TraceStep(place, display_name(step.function), step.depth, kind, text, step.values)


def _kind(edge: Edge, step: Ran) -> StepKind | None:
    """What kind of step an edge is; None if people need not see it."""
    match edge.effect:
        case ir.Assume(condition):
            return None if isinstance(condition, ir.IntConst) else "branch"
        case ir.Return():
            return "return" if step.depth else None
        case ir.Call():
            return "call"
        case ir.Assign(ir.Var(_, "temporary")):
            return None
        case ir.Assign():
            return "assign"
    return None
