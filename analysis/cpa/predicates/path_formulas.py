"""A path as a sequence of formulas in static single assignment, one for each block of it, and back from interpolants of these to
formulas over state variables ([SYMCEGAR] section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import and_, eq, symbol
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State, StateVariable
from analysis.smt.transitions.vocabulary import INSTANCE


def path_formulas(system: System, blocks: Sequence[State]) -> list[Term]:
    """One formula for each block. Instances of state variables are numbered by the block that gave them their value."""
    vocabulary = system.vocabulary
    variable_of = {vocabulary[variable]: variable for variable in vocabulary}
    defined = _needed(blocks, variable_of)
    current: dict[StateVariable, int] = {}
    found = []
    for position, block in enumerate(blocks):
        instance = Substitution(_instances(variable_of, dict(current), position))
        parts = [instance(part) for part in block.guard]
        for variable in defined[position]:
            value = instance(block.values[variable])
            parts.append(eq(_instance(vocabulary[variable], position + 1), value))
        for variable in block.values:
            current[variable] = position + 1
        found.append(and_(*parts, *vocabulary.axioms(parts)))
    return found


def plain(term: Term) -> Term:
    """The term over state variables, without the numbers of instances."""

    def named(instance: Term) -> Term:
        return symbol(str(instance.data).rpartition(INSTANCE)[0], instance.sort)

    return Substitution(named)(term)


def _needed(blocks: Sequence[State], variable_of: Mapping[Term, StateVariable]) -> list[list[StateVariable]]:
    """For each block the variables that it changes and that a later one reads."""
    read: set[StateVariable] = set()
    found: list[list[StateVariable]] = []
    for block in reversed(blocks):
        changed = [variable for variable in block.values if variable in read]
        read -= set(block.values)
        used = symbols((*block.guard, *(block.values[variable] for variable in changed)))
        read |= {variable_of[term] for term in used if term in variable_of}
        found.append(changed)
    found.reverse()
    return found


def _instances(
    variable_of: Mapping[Term, StateVariable], current: Mapping[StateVariable, int], position: int
) -> Callable[[Term], Term]:
    """The instance of every symbol in a block: of a state variable by the step that set it, of an input by the block."""

    def instance(term: Term) -> Term:
        variable = variable_of.get(term)
        return symbol(f"{term.data}{INSTANCE}{f'i{position}' if variable is None else current.get(variable, 0)}", term.sort)

    return instance


def _instance(term: Term, number: int) -> Term:
    return symbol(f"{term.data}{INSTANCE}{number}", term.sort)
