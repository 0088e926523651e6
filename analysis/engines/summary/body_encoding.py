"""C as partitions: the bodies of a program's functions, their loops unwound, as formulas over the state before and after.

Bodies are followed as `analysis.cpa.predicates.procedures` follows them: one context for each function, so that all its calls
share the addresses of its objects, and functions that can be active twice must have none in memory (`TooLargeError`). What must
not be passed over (`analysis.cpa.predicates.step_formulas`) is a flaw: an answer has to show that nothing comes to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping

from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Cfa
from analysis.cpa.domains.location import Location
from analysis.cpa.framework.steps import Step, StepTable
from analysis.cpa.predicates.step_formulas import departures, obstacle
from analysis.cpa.predicates.violations import Violation, condition
from analysis.engines.summary.body_partitions import CUT, ERROR, FLAW, LITERALS, RETURNS, Partition, Slot, digest_of
from analysis.engines.summary.known_bodies import BodiesOfProgram, EncodedBodies, Interface, around
from analysis.engines.summary.loop_unwinding import Copy, UnwoundBody
from analysis.engines.summary.reached_places import check_locations
from analysis.model.spelling import display_name
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE, TRUE, and_, eq, implies, or_, symbol
from analysis.smt.logic.terms import BOOL, Term, symbols
from analysis.smt.transitions.object_cells import RESULT
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import START, State, StateVariable
from analysis.smt.transitions.vocabulary import TooLargeError

_MOST_COPIES = 20_000  # locations of one unwound body
_INNER = 1 << 17  # added to a context: that of the arguments of a recursive call, until its body takes over
_MOST_ROUNDS = 100  # of a group of recursive functions, until what they read and change is known


class BodyEncoder:
    """The partitions of one program, for calls from `entry`. `numbers` are the contexts of functions: it is added to, so that a
    function keeps its own over revisions. `known`: bodies of the revision before. Raises TooLargeError."""

    def __init__(
        self,
        system: System,
        violations: Iterable[Violation],
        entry: str,
        bound: int,
        numbers: MutableMapping[str, int],
        known: BodiesOfProgram,
    ) -> None:
        self.system = system
        self.entry = entry
        self.bound = bound
        self.steps = StepTable(system.program)
        self.violations = {(v.function, v.edge): v for v in violations}
        self.interfaces: dict[str, Interface] = {}
        self._called = called = callees(system.program)
        groups = components(system.program)
        self.recursive = {name for group in groups for name in group if len(group) > 1 or name in called[name]}
        self._groups = groups
        numbers.setdefault(entry, 0)
        for name in sorted(system.program.functions):
            numbers.setdefault(name, len(numbers))
        self.numbers: Mapping[str, int] = numbers
        self._known = known

    def partitions(self, wanted: Iterable[str]) -> dict[str, Partition]:
        """The partitions of functions, which must be all that the entry can call."""
        names, found = frozenset(wanted), dict[str, Partition]()
        for group in self._groups:
            own = tuple(name for name in group if name in names)
            for name in own:
                if name in self.recursive and self.system.vocabulary.objects.in_memory(name):
                    raise TooLargeError(
                        f"{display_name(name)}() calls itself, and has arrays, structures or variables whose address is used"
                    )
            if own:
                found.update(self._encoded(own))
        return found

    def _encoded(self, group: tuple[str, ...]) -> dict[str, Partition]:
        """The partitions of a function, or of several that call each other, encoded if no revision before had the same bodies."""
        system = self.system
        cfas = [system.program.functions[name] for name in group]
        surroundings = [self._around(name, group) for name in group]
        known = self._known.find(cfas, surroundings)
        if known is None:
            before, system.assumptions = system.assumptions, {}
            try:
                partitions = self._settled(group)
                known = EncodedBodies(partitions, [self.interfaces[name] for name in group], tuple(system.assumptions))
            finally:
                system.assumptions = {**before, **system.assumptions}
            self._known.keep(cfas, surroundings, known)
        self.interfaces.update(zip(group, known.interfaces, strict=True))
        system.assumptions.update(dict.fromkeys(known.assumptions))
        return dict(zip(group, known.partitions, strict=True))

    def _settled(self, group: tuple[str, ...]) -> list[Partition]:
        """The partitions of functions that call each other: encoded again until what they read and change stays as it is."""
        self.interfaces.update(dict.fromkeys(group, Interface((), ())))
        for _ in range(_MOST_ROUNDS):
            before, partitions = [self.interfaces[name] for name in group], list[Partition]()
            for name in group:
                partition, self.interfaces[name] = self.encoded_anew(name)
                partitions.append(partition)
            if [self.interfaces[name] for name in group] == before or not self.recursive.intersection(group):
                return partitions
        raise TooLargeError(f"what {display_name(group[0])}() and the functions that it calls change is not settled")

    def _around(self, function: str, group: tuple[str, ...]) -> object:
        """What the body of a function depends on beside that of its `group`, which calls each other."""
        below = [name for name in self._called[function] if name in self.interfaces and name not in group]
        called = {name: (self.interfaces[name], self.numbers[name], self.inner(name)) for name in below}
        violations = [violation for violation in self.violations.values() if violation.function == function]
        is_recursive = function in self.recursive
        return around(self.system, function, self.numbers[function], called), violations, is_recursive

    def encoded_anew(self, function: str) -> tuple[Partition, Interface]:
        """The partition of a body and its interface, whatever is known."""
        return _Body(self, function).encoded()

    def prefix(self, function: str) -> str:
        """What the names of a function's own state variables begin with."""
        return f"{self.numbers[function]}:"

    def inner(self, callee: str) -> int:
        """The context in which a called function finds its arguments."""
        return self.numbers[callee] + (_INNER if callee in self.recursive else 0)

    def canonical(self, function: str, variable: StateVariable, side: str) -> Term:
        """The canonical symbol of a state variable in the function's interface; `side` is `in` or `out`."""
        name, sort = variable.name, self.system.vocabulary.sort(variable)
        prefix = self.prefix(function)
        if name.startswith(prefix):
            name = name.removeprefix(prefix)
            whole, dot, bits = name.partition(".")
            position = [p.name for p in self.system.program.functions[function].parameters]
            name = f"{position.index(whole)}{dot}{bits}" if whole in position and side == "in" else name
        return symbol(f"{side}:{name}", sort)

    def parameters(self, function: str) -> list[StateVariable]:
        """The state variables of a function's parameters, as far as they are not in memory."""
        vocabulary, found = self.system.vocabulary, list[StateVariable]()
        for parameter in self.system.program.functions[function].parameters:
            if vocabulary.objects.kind(function, parameter) == "cells":
                cells = vocabulary.objects.cells(self.prefix(function) + parameter.name, parameter.type)
                found += [vocabulary.variable(name, type_) for name, type_ in cells]
        return found

    def results(self, function: str, prefix: str) -> list[StateVariable]:
        """The state variables of what a function returns."""
        vocabulary = self.system.vocabulary
        cells = vocabulary.objects.cells(RESULT, self.system.program.functions[function].type.result)
        return [vocabulary.variable(prefix + name, type_) for name, type_ in cells]


class _Body:
    """One function's body, as it is followed."""

    def __init__(self, encoder: BodyEncoder, function: str) -> None:
        self._encoder = encoder
        self._system = encoder.system
        self._function = function
        self._context = encoder.numbers[function]
        self._cfa: Cfa = self._system.program.functions[function]
        self._conjuncts: list[Term] = []
        self._canonical: dict[Term, Term] = {}
        self._slots: list[Slot] = []
        self._depends: dict[Term, list[Term]] = {}
        self._bad: dict[Term, list[Term]] = {ERROR: [], FLAW: [], CUT: []}
        self._violations: list[tuple[Term, int]] = []
        self._flaws: list[tuple[Term, str]] = []
        self._loops_are_cut = False
        self._reached: list[Term] = []
        self._calls: dict[str, dict[tuple[int, str], int]] = {}
        self._heads: dict[int, int] = {}

    def encoded(self) -> tuple[Partition, Interface]:
        """The partition, and its interface in terms of state variables."""
        body = UnwoundBody(self._cfa, self._encoder.bound, _MOST_COPIES)
        edges = [edge for name, edge in self._encoder.violations if name == self._function]
        places = check_locations(self._cfa, edges, body.loops)
        is_entry = self._function == self._encoder.entry
        arrived = {body.first: self._system.start(self._function) if is_entry else START}
        ended: State | None = None
        for copy in body.order:
            here = arrived.pop(copy, None)
            if here is None:
                continue
            if copy[0] in places:
                self._reached.append(and_(*here.guard))
            if copy[0] == self._cfa.exit:
                ended = here
                continue
            for step in self._encoder.steps.leaving(self._function, copy[0]):
                after = self._take(here, step, copy)
                target = body.after(copy, step.edge)
                if after is not None and target is None:
                    self._loops_are_cut = True
                    self._literal(CUT, f"cut {len(self._bad[CUT])}", after.guard)
                elif after is not None and target is not None:
                    arrived[target] = self._system.merged(arrived[target], after) if target in arrived else after
        changed = self._end(ended)
        for literal, sources in self._bad.items():
            self._imply(literal, or_(*sources))
        return self._finished(changed)

    # -- conjuncts ----------------------------------------------------------------------------------------------

    def _imply(self, literal: Term, said: Term) -> None:
        """Adds the conjunct that the literal implies `said`."""
        self._conjuncts.append(implies(literal, said))
        self._depends.setdefault(literal, []).append(said)

    def _literal(self, bad: Term, name: str, guard: tuple[Term, ...]) -> Term:
        """A new literal, which is true if the body reaches one more case of `bad`: there, `guard` holds."""
        literal = symbol(f"local:{name}", BOOL)
        self._canonical[literal] = literal
        self._imply(literal, and_(*guard))
        self._bad[bad].append(literal)
        return literal

    def _end(self, ended: State | None) -> list[StateVariable]:
        """Says what holds when the function returns. Returns the shared variables that may have changed."""
        self._imply(RETURNS, FALSE if ended is None else and_(*ended.guard))
        if ended is None or self._function == self._encoder.entry:
            return []
        vocabulary = self._system.vocabulary
        known = sorted(ended.values, key=lambda variable: variable.name)
        changed = [v for v in known if v.is_shared and ended.values[v] is not vocabulary[v]]
        results = [v for v in self._encoder.results(self._function, self._encoder.prefix(self._function)) if v in ended.values]
        for variable in (*changed, *results):
            output = self._encoder.canonical(self._function, variable, "out")
            self._canonical[output] = output
            value = ended.values[variable]
            self._conjuncts.append(implies(RETURNS, eq(output, value)))
            self._depends.setdefault(output, []).extend((value, RETURNS))
        return changed

    # -- steps --------------------------------------------------------------------------------------------------

    def _take(self, state: State, step: Step, copy: Copy) -> State | None:
        system, function, context = self._system, self._function, self._context
        violation = self._encoder.violations.get((function, step.edge.id))
        if violation is not None:
            failing = condition(system, state, step, context, violation)
            if failing is not None:
                literal = self._literal(ERROR, f"violation {len(self._violations)}", failing.guard)
                self._violations.append((literal, violation.edge))
        reason = obstacle(system.program, step, Location(function, step.edge.target))
        if reason is not None:
            self._flaw(state, reason)
            return None
        is_about_bounds = violation is not None and violation.property == "array-bounds"
        for departing, said in departures(system, state, step, context, bounds=not is_about_bounds):
            self._flaw(departing, said)
        if step.kind == "enter":
            return self._call(state, step, copy)
        if step.kind == "external":
            return system.external(state, step.edge, function, context, step.callee)
        return system.take(state, step.edge, function, context)

    def _flaw(self, state: State, said: str) -> None:
        self._flaws.append((self._literal(FLAW, f"flaw {len(self._flaws)}", state.guard), said))

    def _call(self, state: State, step: Step, copy: Copy) -> State | None:
        """The state after a call. Nothing is known of the call but what its slot says."""
        system, encoder, callee = self._system, self._encoder, step.callee
        inner = encoder.inner(callee)
        entered = system.enter(state, step.edge, self._function, self._context, callee, inner)
        if entered is None:
            return None
        slot = Slot(self._key(step, copy), callee)
        self._slots.append(slot)
        called, returns = slot.called, slot.of(RETURNS)
        for literal in (called, returns):
            self._canonical[literal] = literal
        self._imply(called, and_(*entered.guard))
        for bad, sources in self._bad.items():
            literal = slot.of(bad)
            self._canonical[literal] = literal
            sources.append(and_(called, literal))
        given = list(self._pass_on(entered, slot))
        values = dict(entered.values)
        vocabulary = system.vocabulary
        changed = encoder.interfaces[callee].changed
        body_results = encoder.results(callee, encoder.prefix(callee))
        waiting_results = encoder.results(callee, f"{inner}:")
        for variable, place in [*((v, v) for v in changed), *zip(body_results, waiting_results, strict=True)]:
            output = vocabulary.any_array(variable) if variable.is_array else vocabulary.input(variable.type)
            values[place] = output
            name = slot.of(encoder.canonical(callee, variable, "out"))
            self._canonical[output] = name
            self._depends.setdefault(name, []).extend((called, *given))
        for bad in (*self._bad, RETURNS):
            self._depends.setdefault(slot.of(bad), []).extend((called, *given))
        over = State(entered.guard, values).constrained(called, returns)
        after = None if over is None else system.leave(over, step.edge, self._function, self._context, callee, inner)
        if after is None:
            return None
        left = {variable: value for variable, value in after.values.items() if not variable.name.startswith(f"{inner}:")}
        return State(after.guard, left)

    def _key(self, step: Step, copy: Copy) -> str:
        """The key of a call: its number among the calls of the same function in the body, and the round of each loop around it.
        So edits of other lines leave it as it is."""
        name = step.callee.replace("/", ":")
        same = self._calls.setdefault(name, {})
        number = same.setdefault((step.edge.id, step.callee), len(same))
        rounds = "".join(f".{self._heads.setdefault(head, len(self._heads))}x{count}" for head, count in copy[1])
        return f"{number}{rounds}>{name}"

    def _pass_on(self, entered: State, slot: Slot) -> Iterator[Term]:
        """Says what the called function reads when it is entered. Yields the symbols of the partition for it."""
        encoder, vocabulary, callee = self._encoder, self._system.vocabulary, slot.callee
        prefix, inner = encoder.prefix(callee), encoder.inner(callee)
        for variable in encoder.interfaces[callee].inputs:
            value: Term | None
            if variable.name.startswith(prefix):
                waiting = vocabulary.variable(f"{inner}:{variable.name.removeprefix(prefix)}", variable.type)
                value = entered.values.get(waiting)
            else:
                value = entered.values.get(variable, vocabulary[variable])
            given = slot.of(encoder.canonical(callee, variable, "in"))
            self._canonical[given] = given
            if value is not None:
                self._conjuncts.append(implies(slot.called, eq(given, value)))
                self._depends.setdefault(given, []).append(value)
            yield given

    # -- canonical names ----------------------------------------------------------------------------------------

    def _finished(self, changed: list[StateVariable]) -> tuple[Partition, Interface]:
        encoder, vocabulary = self._encoder, self._system.vocabulary
        conjuncts = [term for term in self._conjuncts if term is not TRUE]
        conjuncts += [term for term in vocabulary.axioms(conjuncts) if term not in conjuncts]
        own = frozenset(encoder.parameters(self._function))
        inputs = list(encoder.parameters(self._function))  # also those that are not read: callers stay as they are
        variable_of = {vocabulary[variable]: variable for variable in list(vocabulary)}
        for literal in LITERALS:
            self._canonical[literal] = literal
        locals_ = 0
        for term in symbols(conjuncts):
            if term in self._canonical:
                continue
            variable = variable_of.get(term)
            if variable is not None and (variable in own or variable.is_shared):
                inputs += [variable] if variable not in own else []
                self._canonical[term] = encoder.canonical(self._function, variable, "in")
            else:
                self._canonical[term] = symbol(f"local:{locals_}", term.sort)
                locals_ += 1
        put = Substitution(self._canonical)
        said = put.all(conjuncts)
        reached = or_(*self._reached)
        left = [term for term in symbols((reached,)) if term not in self._canonical]
        others = {term: symbol(f"local:{locals_ + number}", term.sort) for number, term in enumerate(left)}
        results = encoder.results(self._function, encoder.prefix(self._function))
        outputs = [*changed, *(results if self._function != encoder.entry else ())]
        partition = Partition(
            function=self._function,
            conjuncts=said,
            inputs=tuple(encoder.canonical(self._function, variable, "in") for variable in inputs),
            outputs=tuple(encoder.canonical(self._function, variable, "out") for variable in outputs),
            slots=tuple(self._slots),
            depends={put(term): symbols(put.all(terms)) for term, terms in self._depends.items()},
            violations=tuple(self._violations),
            flaws=tuple(self._flaws),
            loops_are_cut=self._loops_are_cut,
            digest=digest_of(said, self._slots),
            reached=Substitution({**self._canonical, **others})(reached),
        )
        ordered = tuple(sorted(inputs, key=lambda variable: variable.name))
        return partition, Interface(ordered, tuple(changed))
