"""From the errors in a derivation graph to findings: which have a path, which of several to report, and how they are reported.

Four things are kept from revision to revision: paths, until something changes in a function that the search looked into, and
for when that is taken back (`earlier_revisions`);
which errors are reported, until anything in the graph changes; what speaks for an error and which steps explain it, until
something changes that this rests on (`reported`); and what a trace says, until what is written there changes.

A change in a function that many call takes many searches. With `patient=False`, errors outside the functions whose text changed
keep their paths, as long as these are there; `settled` says whether anything was left so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

import msgspec

from analysis.cfa.failed_assertions import failed_condition
from analysis.cfa.graph import Cfa, Places, Program
from analysis.cfa.unnamed_values import without_temporaries
from analysis.engines.automaton.facts.facts import NOTHING, Fact, FactTable
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.facts.spelled import spell_path
from analysis.engines.automaton.feasibility.error_paths import ErrorPath, Feasibility
from analysis.engines.automaton.feasibility.graph_slices import GraphSteps
from analysis.engines.automaton.feasibility.kept_searches import Differences, KeptSearches
from analysis.engines.automaton.report.alike_errors import Settings, beside, distinct, grouped
from analysis.engines.automaton.report.beginnings import Beginning, Beginnings
from analysis.engines.automaton.report.chains import Chains, Joined
from analysis.engines.automaton.report.clear_statements import ClearStatements, ErrorFree
from analysis.engines.automaton.report.earlier_revisions import EarlierRevisions, Step
from analysis.engines.automaton.report.error_searches import (
    is_there,
    leads_there,
    search_at_once,
    search_path,
    still_holds,
)
from analysis.engines.automaton.report.path_evidence import Tracked
from analysis.engines.automaton.report.raised_errors import Sought, sought
from analysis.engines.automaton.report.reported import Reported, Supported
from analysis.engines.automaton.report.sibling_calls import Asked, Calls, SiblingCalls
from analysis.engines.automaton.report.suspicions import Error, Suspicion, suspicion
from analysis.engines.automaton.report.trace import Spelled, Taken, Tracer
from analysis.engines.automaton.solver.full import DerivationGraph, unpack
from analysis.engines.automaton.solver.retrace import Retrace
from analysis.model.c_types import RecordDefinition
from analysis.model.digest import digest_text
from analysis.model.evidence import points
from analysis.model.interruption import step_done
from analysis.model.places import Range
from analysis.model.report import Finding
from analysis.model.spelling import display_name, spell_effect
from analysis.rules.automaton import Rule

_SPELLED = 20_000  # steps in words that are kept from revision to revision
_TRIES = 3  # of errors with one message in one function, when the search for a path gives up


class Findings:
    """The findings of one analysis, revision by revision. `violated` and `undecided` are rules by function."""

    def __init__(self, rules: tuple[Rule, ...], trace_steps: int, jobs: int) -> None:
        self._rules = rules
        self._trace_steps = trace_steps
        self._jobs = jobs
        self.error_paths: KeptSearches[tuple[str, frozenset[int]], ErrorPath] = KeptSearches()
        self._chains = Chains(trace_steps)
        self._beginnings = Beginnings(self._chains)
        self._earlier: EarlierRevisions[ErrorPath, Beginning] = EarlierRevisions()
        self._feasibility: Feasibility | None = None
        self._siblings = SiblingCalls()
        self._clear = ClearStatements()
        self._whole: tuple[frozenset[str], Mapping[str, RecordDefinition]] = frozenset(), {}
        self._sought: dict[Error, Sought] = {}
        self._joined: dict[Error, Joined] = {}
        self._chosen: list[tuple[Error, Joined]] | None = None
        self._reported: dict[Error, Reported] = {}
        self._evidence: dict[Error, Supported] = {}
        self._told: dict[Error, Supported] = {}  # in this revision
        self._differing: set[str] = set()  # functions that differ from what they were when findings were reported last
        self._remodelled: set[str] = set()  # those of them in which more than the graph differs
        self._spelled: dict[Taken, Spelled] = {}
        self._doubtful: dict[tuple[str, frozenset[int]], ErrorPath] = {}
        self._urgent: set[str] = set()
        self.settled = True
        self.refuted: frozenset[Error] = frozenset()
        self._suspects: dict[str, tuple[Error, list[Taken]]] = {}
        self.violated: dict[str, set[int]] = {}
        self.undecided: dict[str, set[int]] = {}

    def changed(self, differ: Differences, texts: Set[str], step: Step | None = None) -> None:
        """Takes the next revision; `texts` are the functions with other text. `step` None: nothing is kept for a program that is
        again what it was."""
        paths = self.error_paths.changed(differ)
        self._doubtful.update(paths)
        if self._feasibility is not None:
            self._feasibility.changed(differ)
        self._differing.update(differ.in_graph, differ.rewritten, texts)
        self._remodelled.update(differ.functions, differ.partly, differ.rewritten, texts)
        self._chains.changed(differ.in_graph | differ.rewritten.keys())
        beginnings = self._beginnings.changed(differ)
        self._urgent.update(texts)
        self._chosen = None
        if step is None:
            self._earlier.forget()
            return
        if paths or beginnings:
            self._earlier.leave(step.before, texts, paths, beginnings)
        for left in self._earlier.like(step.now):
            self.error_paths.restore(left.paths)
            self._beginnings.restore(left.beginnings)

    def other_rules(self, rules: tuple[Rule, ...], differing: Set[int], functions: Set[str], recalled: Set[str]) -> None:
        """Takes other rules, by the numbers that facts use. `differing` are the numbers of rules with another automaton,
        `functions` those in which the graph has changed, and those `recalled` have callers that they did not have."""
        self._rules, self._reported, self._evidence, self._spelled = rules, {}, {}, {}
        self.refuted = frozenset(error for error in self.refuted if error[1].rule not in differing)
        self.changed(Differences(functions, {}, recalled), frozenset())
        self._feasibility = None
        self._chains.forget()
        self._beginnings.forget()

    def refute(self, errors: frozenset[Error]) -> None:
        """These errors were refuted: they are not found until other ones are named here. Others with the same cause take their
        places. Whoever names them asks about them again when the text of their function changes: meanwhile they stay away, for
        otherwise they would come and go with each key."""
        if errors != self.refuted:
            self.refuted, self._chosen = errors, None

    def errors(self) -> dict[str, Error]:
        """What the findings of the last `find` are about, by fingerprint."""
        return {name: error for name, (error, _) in self._suspects.items()}

    def shown(self) -> dict[str, list[Taken]]:
        """The paths that the traces of the last `find` are made of, by fingerprint."""
        return {name: self._reported[error].joined.shown for name, (error, _) in self._suspects.items()}

    def suspicions(self, program: Program, facts: FactTable) -> tuple[Suspicion, ...]:
        """The questions about the findings of the last `find`."""
        return tuple(
            suspicion(program, facts, self._rules[error[1].rule].name, name, error, self._sought[error].error, steps)
            for name, (error, steps) in self._suspects.items()
        )

    def functions_of(self, error: Error) -> frozenset[str]:
        """The functions in which an error is: with that in which it happens, if it was raised to a call."""
        found = self._sought.get(error)
        return frozenset((error[0],)) if found is None else found.functions

    def find(
        self, graph: DerivationGraph, delta: ProgramDelta, retrace: Retrace, places: Places, patient: bool = True
    ) -> tuple[Finding, ...]:
        """One finding per function, rule, message, lost variable and value that is set to a variable, and one at a place (the
        others have the same cause, and go when it goes): the first in the text whose branches do not contradict each other, with
        a short trace; in order of place. `patient` False: see above."""
        spelled: dict[Taken, Spelled] = {}
        tracer = Tracer(delta, places, self._trace_steps, self._spelled, spelled)
        whole = frozenset(delta.program.functions), delta.program.records
        before, self._told = self._reported, {}
        if whole != self._whole:  # evidence says which functions have no body, and which members are in unions
            before, self._evidence = {}, {}
        if self._chosen is None or (patient and not self.settled):
            self.settled, self._chosen = True, None  # nothing is chosen while this may be ended from outside
            self._chosen = self._choose(graph, delta, retrace, places, patient)
            if self.settled:
                self._doubtful, self._urgent = {}, set()
                self._beginnings.doubtful.clear()
        now: dict[Error, Reported] = {}
        for error, joined in self._chosen:
            reported = before.get(error)
            if reported is None or not self._is_as_reported(reported, error, joined, delta, places):
                step_done()
                reported = self._report(tracer, delta, places, error, joined, reported)
            now[error] = reported
        self._reported, self._whole = now, whole
        still = {error: one for error, one in self._evidence.items() if self._remodelled.isdisjoint(one.functions)}
        self._evidence = {error: one for error, one in (still | self._told).items() if error in self._joined}
        self._differing.clear()
        self._remodelled.clear()
        if spelled:
            self._spelled = self._spelled | spelled if len(self._spelled) + len(spelled) < _SPELLED else spelled
        reported_in_order = sorted(self._reported.items(), key=lambda item: _in_order(item[1].finding))
        free = self._clear.look(graph, delta, retrace, self._sought)
        findings = numbered(_told_apart(free, error, reported, places) for error, reported in reported_in_order)
        named = zip(findings, reported_in_order, strict=True)
        self._suspects = {finding.fingerprint: (error, reported.joined.steps) for finding, (error, reported) in named}
        return findings

    def _is_as_reported(self, reported: Reported, error: Error, joined: Joined, delta: ProgramDelta, places: Places) -> bool:
        supported = reported.supported
        if not supported.is_about(self._sought[error].error, joined) or not reported.has_versions_of(places):
            return False
        if not self._remodelled.isdisjoint(supported.functions):
            return False
        return self._calls(delta, supported.callee) == supported.calls

    def _calls(self, delta: ProgramDelta, callee: Asked | None) -> Calls | None:
        return None if callee is None else self._siblings.of(delta, *callee)

    def _choose(
        self, graph: DerivationGraph, delta: ProgramDelta, retrace: Retrace, places: Places, patient: bool
    ) -> list[tuple[Error, Joined]]:
        self.violated, self.undecided = {}, {}
        feasibility = self._feasibility
        if feasibility is None or feasibility.steps.graph is not graph:
            feasibility = self._feasibility = Feasibility(GraphSteps(graph), delta, retrace, delta.thorough)
        else:
            feasibility.revise(delta, retrace)
        self._sought = sought(graph, delta, retrace, _errors(delta, retrace))
        errors = {error: one for error, one in self._sought.items() if error not in self.refuted}
        alike = grouped(errors, self._rules, places, lambda name, fact: self._message(fact, delta.program.functions[name]))
        if patient:
            groups = [[errors[error] for error in same] for same in alike]
            known = self.error_paths.known | self.error_paths.in_question
            self.error_paths.known.update(search_at_once(feasibility, delta, groups, known, _TRIES, self._jobs))
        facts: dict[tuple[str, int], list[Fact]] = {}
        for name, fact in errors:
            facts.setdefault((name, fact.edge), []).append(fact)
        chosen = []
        before, self._joined = self._joined, {}
        for same in alike:
            tries, causes, edges = _TRIES, set[int](), set[int]()
            for error in same:
                settings = Settings(delta.program.functions[error[0]], error)
                if error[1].edge in edges or (causes and settings.reaching() <= causes):
                    continue
                step_done()
                path = self._error_path(feasibility, delta, errors[error], patient)
                tries -= path.steps is None and not path.decided
                joined = self._join(graph, feasibility, delta, errors[error], path, before.get(error), patient)
                if joined is not None:
                    self.violated.setdefault(error[0], set()).add(error[1].rule)
                    self._joined[error] = joined
                    cause, first = settings.last(joined.steps)
                    if cause not in causes and not _follows(delta, facts, error, joined.steps[first + 1 :]):
                        causes.add(cause)
                        edges.add(error[1].edge)
                        others = self._beside(graph, feasibility, delta, errors, error, same, before, patient)
                        chosen.append(self._likeliest(delta, places, [(error, joined), *others]))
                if tries <= 0:
                    break
        return distinct(self._rules, delta, places, chosen, lambda same: self._likeliest(delta, places, same))

    def _beside(
        self,
        graph: DerivationGraph,
        feasibility: Feasibility,
        delta: ProgramDelta,
        errors: Mapping[Error, Sought],
        error: Error,
        same: list[Error],
        before: Mapping[Error, Joined],
        patient: bool,
    ) -> Iterator[tuple[Error, Joined]]:
        """The other errors at the place of one, with their paths."""
        for other in beside(self._rules, error, same):
            path = self._error_path(feasibility, delta, errors[other], patient)
            joined = self._join(graph, feasibility, delta, errors[other], path, before.get(other), patient)
            if joined is not None:
                self._joined[other] = joined
                yield other, joined

    def _likeliest(self, delta: ProgramDelta, places: Places, candidates: list[tuple[Error, Joined]]) -> tuple[Error, Joined]:
        """The error that its evidence says the most for; the first one of several."""

        def speaks_for(one: tuple[Error, Joined]) -> int:
            return points(self._supported(delta, places, *one).evidence)

        return max(candidates, key=speaks_for) if len(candidates) > 1 else candidates[0]

    def _supported(self, delta: ProgramDelta, places: Places, error: Error, joined: Joined) -> Supported:
        """What speaks for an error; what spoke for it before, if that still holds."""
        below = self._sought[error].error
        known = self._told.get(error)
        if known is not None and known.is_about(below, joined):
            return known
        known = self._evidence.get(error)
        is_known = known is not None and known.is_about(below, joined)
        if known is not None and is_known and known.holds(self._remodelled, self._calls(delta, known.callee), places):
            self._told[error] = known
            return known
        is_late = joined.unchecked > 0 or joined.excluded
        rule = self._rules[error[1].rule]
        tracked = Tracked(delta, places, rule, below[1], joined.steps, is_late=is_late, wraps=joined.wraps)
        calls = self._calls(delta, tracked.callee)
        evidence = tracked.evidence(calls)
        functions = frozenset(taken.function for taken in joined.steps) | tracked.looked
        found = self._told[error] = Supported(below, joined, evidence, tracked.callee, calls, functions, tracked.stood)
        return found

    def _join(
        self,
        graph: DerivationGraph,
        feasibility: Feasibility,
        delta: ProgramDelta,
        one: Sought,
        path: ErrorPath,
        last: Joined | None,
        patient: bool,
    ) -> Joined | None:
        """A path with the calls that lead to it; None if there is none, or if no call leads there."""
        if path.steps is None or path.start is None:
            return None
        if path.unchecked:
            calls = self._beginnings.shortest(graph, feasibility, path.start)
            return self._chains.joined(calls, 0, path.start[0], path.steps, last, path.unchecked, wraps=path.wraps)
        beginning = self._beginning(graph, feasibility, delta, one, path, patient)
        path = beginning.path
        if path.steps is None or path.start is None:
            return None
        calls, first, excluded = beginning.calls, beginning.first, beginning.excluded
        return self._chains.joined(calls, first, path.start[0], path.steps, last, excluded=excluded, wraps=path.wraps)

    def _error_path(self, feasibility: Feasibility, delta: ProgramDelta, one: Sought, patient: bool) -> ErrorPath:
        """A feasible path from a function's entry to what is sought; one that was found before, if nothing that it depends on
        changed, or if it is good enough for now."""
        key = one.at
        name = key[0]
        path = self.error_paths.known.get(key)
        if path is None and not self._looks(one, patient):
            path = self._doubtful.get(key)
            if path is not None and is_there(path, delta) and feasibility.is_entered(path):
                self.settled = False
            else:
                path = None
        if path is None:
            path = self.error_paths.get(key, lambda path: still_holds(feasibility, delta, path, one))
        if path is None:
            path = self.error_paths.known[key] = search_path(feasibility, delta, one)
        if not path.decided:
            self.undecided.setdefault(name, set()).add(one.error[1].rule)
        return path

    def _beginning(
        self,
        graph: DerivationGraph,
        feasibility: Feasibility,
        delta: ProgramDelta,
        one: Sought,
        path: ErrorPath,
        patient: bool,
    ) -> Beginning:
        """What becomes of a path when it is joined with the calls that lead to it. What became of it before counts as long as it
        does for paths."""
        known = self._beginnings.known(graph, delta, feasibility, one, path, self._looks(one, patient))
        if known is None and not self._looks(one, patient):
            known = self._beginnings.doubtful.get(one.at)
            if known is not None and known.path.steps is not None and leads_there(known, delta):
                self.settled = False
            else:
                known = self._beginnings.known(graph, delta, feasibility, one, path)
        if known is None:
            known = self._beginnings.find(graph, delta, feasibility, one, path)
        return known

    def _looks(self, one: Sought, patient: bool) -> bool:
        """Whether to find out what holds, where what was found before may be good enough for now."""
        return patient or one.at[0] in self._urgent

    def _message(self, fact: Fact, cfa: Cfa | None = None) -> str:
        """With `cfa`, that of the fact's function, for people; without it the same whatever the arguments of calls are."""
        rule = self._rules[fact.rule]
        message = rule.transitions[fact.transition].message
        if rule.tracks is None:
            condition = None if cfa is None else failed_condition(cfa.by_id[fact.edge].effect)
            return message if condition is None else f"{message}: `{condition}`"
        return message.replace(rule.tracks, spell_path(fact.paths[0], cfa) if fact.paths else "the result")

    def _report(
        self,
        tracer: Tracer,
        delta: ProgramDelta,
        places: Places,
        error: Error,
        joined: Joined,
        before: Reported | None,
    ) -> Reported:
        """The finding in words, with what still holds of how it was reported `before`."""
        function, fact = error
        rule = self._rules[fact.rule]
        cfa = delta.program.functions[function]
        message = self._message(fact, cfa)
        place = places.place(function, fact.edge)
        text = without_temporaries(spell_effect(cfa.by_id[fact.edge].effect))
        text = text.replace(place.path, "__FILE__")  # where the check is run from is no difference
        supported = self._supported(delta, places, error, joined)
        path = _up_to(error, joined.shown)
        is_known = before is not None and before.is_explained_by(joined, self._differing)
        explained = before.explained if before is not None and is_known else tracer.explaining(path)
        trace, numbers = tracer.steps(path, message, explained.numbers)
        finding = Finding(
            rule=rule.name,
            status="possible",
            severity=rule.severity,
            message=message,
            since=tracer.since(path),
            place=place,
            function=display_name(function),
            fingerprint=digest_text(rule.name, display_name(function), self._message(fact), text),
            trace=trace,
            explaining=numbers,
            evidence=supported.evidence,
        )
        versions = [(name, places.version(name)) for name in supported.functions]
        return Reported(joined, versions, supported, finding, explained)


def _told_apart(free: ErrorFree, error: Error, reported: Reported, places: Places) -> Finding:
    """The finding with what tells it from those of other versions."""
    at, clear = free.statements(error, reported.joined, places)
    return msgspec.structs.replace(reported.finding, at=at, clear=clear)


def _up_to(error: Error, path: list[Taken]) -> list[Taken]:
    """The path up to the error: for one that was raised to a call, this is where that call is made last. Where a result is lost,
    the path comes back from the call."""
    place = error[0], error[1].edge
    if (path[-1].function, path[-1].edge) == place:
        return path
    last = max(number for number, taken in enumerate(path) if (taken.function, taken.edge) == place and taken.event != "return")
    return path[: last + 1]


def _errors(delta: ProgramDelta, retrace: Retrace) -> dict[Error, list[int]]:
    """The error configurations that an execution leads to, by function and what is wrong."""
    found: dict[Error, list[int]] = {}
    reached = retrace.errors()
    for name in delta.program.functions:
        for configuration in reached.get(name, ()):
            found.setdefault((name, delta.facts[unpack(configuration)[2]]), []).append(configuration)
    return found


def _follows(delta: ProgramDelta, errors: Mapping[tuple[str, int], list[Fact]], error: Error, path: list[Taken]) -> bool:
    """Whether the path to an error, from where its variable is set last, leads over another error with the same value: then it is
    a consequence of that one. An edge before which the value is not tracked can be an error of other runs only: `lock(&m)`, where
    `m` may be held already, or a use before `free(p)`, where an earlier call may have freed it."""
    function, fact = error
    for taken in path[:-1]:
        if taken.before == NOTHING and taken.after not in delta.facts.errors:
            continue
        if taken.function != function and (not fact.paths or fact.paths[0][0][0] != "@"):
            continue
        others = [other for other in errors.get((taken.function, taken.edge), ()) if (taken.function, other) != error]
        if any(other.rule == fact.rule and other.paths == fact.paths and fact.paths for other in others):
            return True
    return False


def numbered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns the findings in order of place, with distinct fingerprints: equal ones are numbered."""
    seen: dict[str, int] = {}
    found = []
    for finding in sorted(findings, key=_in_order):
        count = seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        if count > 1:
            finding = msgspec.structs.replace(finding, fingerprint=digest_text(finding.fingerprint, str(count)))
        found.append(finding)
    return tuple(found)


def _in_order(finding: Finding) -> tuple[str, Range, str, str]:
    return finding.place.path, finding.place.range, finding.rule, finding.message
