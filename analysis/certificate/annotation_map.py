"""An annotation of an old program in the terms of a new one: contexts and locations by `cfa.revisions.location_map`, symbols by
the variables that they stand for. What has no counterpart says nothing of the new program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from analysis.certificate.annotation import Annotation
from analysis.cfa.revisions.location_map import FunctionMap, ProgramMap
from analysis.cpa.domains.location import Location, Stack
from analysis.cpa.framework.steps import Step
from analysis.cpa.predicates.step_formulas import Contexts
from analysis.model import ir
from analysis.model.c_types import BOOL, Array
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.transitions.object_cells import RESULT
from analysis.smt.transitions.system import System, has_flag
from analysis.smt.transitions.transition_state import StateVariable

_LOCAL = re.compile(r"(\d{1,9}):(.*?)((?:\.\d+)?\??)")
_GLOBAL = re.compile(r"@(.*?)((?:\.\d+)?\??)")


class Subject(msgspec.Struct, frozen=True):
    """What a symbol stands for: a part of a variable of a `function` (of "", one with static storage), or, without a variable, a
    kind of memory."""

    name: str
    function: str = ""
    variable: ir.Var | None = None


class AnnotationMap:
    """Translates the assertions of one annotation to the new program of a map, which the `system` is of, and its
    `new_contexts`."""

    def __init__(self, pair: ProgramMap, annotation: Annotation, system: System, new_contexts: Contexts) -> None:
        self.pair = pair
        self.annotation = annotation
        self._system = system
        self.new_contexts = new_contexts
        self._stacks: dict[Stack | None, Stack | None] = {None: None}
        self._numbers: dict[Stack | None, int] = {}
        self._tables: dict[str, Mapping[str, tuple[StateVariable, ir.Var]]] = {}
        self._back = {theirs: mine for mine, theirs in pair.linked.items()}
        self._whole: dict[Location, Term | None] = {}
        self._shared = {variable.name: variable for variable in system.shared()}
        for number, stack in enumerate(annotation.contexts):
            now = self._now(stack)
            if now is not None or stack is None:
                self._numbers[now] = number

    def disjuncts(self, place: Location) -> tuple[Term, ...] | None:
        """What was asserted at a place of the new program, as its disjuncts in new terms: those that can be said there. None if
        nothing was asserted, or there was no such place."""
        assertion = self.asserted(place)
        if assertion is None:
            return None
        parts = assertion.args if assertion.op == "or" else () if assertion is FALSE else (assertion,)
        return self._translated(parts, place.stack)

    def whole(self, place: Location) -> Term | None:
        """What was asserted at a place of the new program, in new terms; None if nothing was, or it cannot all be said there."""
        if place not in self._whole:
            self._whole[place] = self._all_of(place)
        return self._whole[place]

    def _all_of(self, place: Location) -> Term | None:
        before = self.asserted(place)
        table = {} if before is None else self._symbols(place.stack, (before,))
        return None if before is None or any(part not in table for part in symbols((before,))) else self._said(before, table)

    def atoms(self, place: Location) -> tuple[Term, ...]:
        """The atoms of what was asserted at a place, as far as they can be said there."""
        assertion = self.asserted(place)
        return () if assertion is None else self._translated(tuple(atoms_of(assertion)), place.stack)

    def asserted(self, place: Location) -> Term | None:
        """What was asserted at a place of the new program, in old terms; None if nothing was, or there was no such place."""
        mapped, number = self.pair.functions.get(place.function), self._numbers.get(place.stack)
        if mapped is None or number is None:
            return None
        asserted = self.annotation.assertions
        return next((asserted[number, at] for at in _places(mapped, place.location) if (number, at) in asserted), None)

    def named_alike(self, place: Location) -> Iterator[Term]:
        """What was asserted anywhere, in the order of the points, as far as the function at a place has variables with the same
        names, and as if it were about these."""
        here = self.new_contexts.number(place.stack), place.function
        activations = dict.fromkeys(range(len(self.annotation.contexts)), here)
        for _, assertion in sorted(self.annotation.assertions.items()):
            parts = assertion.args if assertion.op == "and" else (assertion,)
            table = self._renamed(parts, activations)
            yield from (self._said(part, table) for part in parts if all(symbol in table for symbol in symbols((part,))))

    def _translated(self, terms: tuple[Term, ...], stack: Stack | None) -> tuple[Term, ...]:
        table = self._symbols(stack, terms)
        known = [term for term in terms if all(symbol in table for symbol in symbols((term,)))]
        return tuple(dict.fromkeys(self._said(term, table) for term in known))

    def _said(self, term: Term, table: Mapping[Term, Term]) -> Term:
        """A formula in new terms, without what the types of variables say: where a stretch does not name them, whoever asks about
        it need not know their types."""
        return self._system.vocabulary.without_ranges(Substitution(table)(term))

    def contexts(self) -> Iterator[Stack | None]:
        """The contexts of the annotation that the new program has as well."""
        yield from self._numbers

    def subject(self, symbol: Term) -> Subject:
        """What a symbol of a translated assertion stands for."""
        name = str(symbol.data)
        if found := _LOCAL.fullmatch(name):
            function = self._function(self._stack_of(int(found[1])))
            known = self._table(function).get(found[2] + found[3])
            return Subject(name) if known is None else Subject(name, function, known[1])
        if found := _GLOBAL.fullmatch(name):
            variable = self.pair.new.globals.get(found[1])
            return Subject(name) if variable is None else Subject(name, "", variable.var)
        return Subject(name)

    # -- contexts -----------------------------------------------------------------------------------------------

    def _now(self, stack: Stack | None) -> Stack | None:
        """The stack of the new program that one of the old one is; None for the empty one, and for one that is not there."""
        if stack not in self._stacks:
            assert stack is not None
            self._stacks[stack] = self._found(stack)
        return self._stacks[stack]

    def _found(self, stack: Stack) -> Stack | None:
        below, caller = self._now(stack.below), self._back.get(stack.call.function, stack.call.function)
        mapped, callee = self.pair.functions.get(caller), self._back.get(stack.call.callee, stack.call.callee)
        if mapped is None or callee not in self.pair.functions or (below is None and stack.below is not None):
            return None
        aligned = next((mine for mine, theirs in mapped.aligned.items() if theirs == stack.call.edge.id), None)
        edge = None if aligned is None else mapped.new.by_id[aligned]
        if edge is None or not isinstance(edge.effect, ir.Call) or callee not in self.pair.new.targets(edge.effect):
            return None
        return Stack(Step("enter", caller, edge, callee), below, stack.depth)

    def _stack_of(self, number: int) -> Stack | None:
        return next((stack for at, stack in self.new_contexts.rows() if at == number), None)

    def _function(self, stack: Stack | None) -> str:
        return self._entry if stack is None else stack.call.callee

    @property
    def _entry(self) -> str:
        return self._back.get(self.annotation.entry, self.annotation.entry)

    # -- symbols ------------------------------------------------------------------------------------------------

    def _symbols(self, stack: Stack | None, terms: tuple[Term, ...]) -> dict[Term, Term]:
        """The new symbols of old ones; those without a counterpart of the same sort are left out."""
        return self._renamed(terms, dict(self._activations(stack)))

    def _renamed(self, terms: tuple[Term, ...], activations: Mapping[int, tuple[int, str]]) -> dict[Term, Term]:
        found: dict[Term, Term] = {}
        for term in symbols(terms):
            variable = self._variable(str(term.data), activations)
            if variable is not None:
                symbol = self._system.vocabulary[variable]
                if symbol.sort == term.sort:
                    found[term] = symbol
        return found

    def _activations(self, stack: Stack | None) -> Iterator[tuple[int, tuple[int, str]]]:
        """The functions that are active, by the number of their context before, with that of now."""
        while True:
            before = self._numbers.get(stack)
            if before is not None:
                yield before, (self.new_contexts.number(stack), self._function(stack))
            if stack is None:
                return
            stack = stack.below

    def _variable(self, name: str, activations: Mapping[int, tuple[int, str]]) -> StateVariable | None:
        if found := _LOCAL.fullmatch(name):
            active = activations.get(int(found[1]))
            if active is None:
                return None
            number, function = active
            own = self._name(function, found[2])
            known = self._table(function).get(f"{own}{found[3]}")
            if known is None:
                return None
            variable = known[0]
            return self._system.vocabulary.variable(f"{number}:{own}{found[3]}", variable.type, is_array=variable.is_array)
        if found := _GLOBAL.fullmatch(name):
            return self._shared.get(f"@{self._back.get(found[1], found[1])}{found[2]}")
        return self._shared.get(name)

    def _name(self, function: str, name: str) -> str:
        mapped = self.pair.functions.get(function)
        return name if mapped is None else mapped.variables.get(name, name)

    def _table(self, function: str) -> Mapping[str, tuple[StateVariable, ir.Var]]:
        """The state variables of a function, by their names without a context, each with the variable of the program."""
        if function not in self._tables:
            self._tables[function] = dict(self._state_variables(function))
        return self._tables[function]

    def _state_variables(self, function: str) -> Iterator[tuple[str, tuple[StateVariable, ir.Var]]]:
        objects, cfa = self._system.vocabulary.objects, self._system.program.functions[function]
        own = {variable.name: variable for variable in cfa.parameters}
        for parts in cfa.parts.values():
            own |= {part.name: part for part in parts if isinstance(part, ir.Var) and part.scope not in ("global", "function")}
        own.setdefault(RESULT, ir.Var(RESULT, "temporary", cfa.type.result))
        for name, variable in own.items():
            kind, type_ = objects.kind(function, variable), variable.type
            if kind == "cells":
                for cell, of in objects.cells(name, type_):
                    yield cell, (StateVariable(cell, of), variable)
            elif kind == "elements" and isinstance(type_, Array):
                yield name, (StateVariable(name, type_.element, is_array=True), variable)
            if has_flag(variable):
                yield f"{name}?", (StateVariable(f"{name}?", BOOL), variable)


def _places(mapped: FunctionMap, location: int) -> Iterator[int]:
    """The old locations that a new one may be, the likeliest first. Where a statement was inserted before the head of a loop, the
    edges that leave the head tell more than those that lead there."""
    if location in mapped.locations:
        yield mapped.locations[location]
    for edge in mapped.new.outgoing.get(location, ()):
        if edge.id in mapped.aligned:
            yield mapped.old.by_id[mapped.aligned[edge.id]].source


def atoms_of(term: Term) -> Iterator[Term]:
    """The atoms of a formula, each once."""
    seen: set[Term] = set()
    waiting = [term]
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        if part.op in ("and", "or", "not"):
            waiting += part.args
        elif part.op != "value":
            yield part
