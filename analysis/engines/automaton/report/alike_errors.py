"""Which errors are alike, so that one of them is reported: those of one function, rule and message, about one lost variable.

The others have the same cause, and go when it goes. The first in the text is reported, but for two cases in which another one
says more: where the function knows more of the value; and where one place has several, a failure with more evidence (`findings`).
Where a place loses what an object owns (`member_states`), and also what was allocated for that member, the likelier one is left.

What a variable is set to anew has another cause. So of each value that it is set to, one error is reported, but one at
a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from analysis.cfa.graph import Cfa, Places
from analysis.engines.automaton.facts.facts import NOTHING, Fact
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import Path, path_of
from analysis.engines.automaton.report.chains import Joined
from analysis.engines.automaton.report.raised_errors import Sought
from analysis.engines.automaton.report.suspicions import Error
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.report.tracked_path import beginning, is_about_member, without_untracked
from analysis.engines.automaton.solver.full import unpack
from analysis.model import ir
from analysis.model.kept_with import kept_with
from analysis.model.places import Range
from analysis.rules.automaton import Rule

Rules = tuple[Rule, ...]
Choice = Callable[[list[tuple[Error, Joined]]], tuple[Error, Joined]]
Place = tuple[Range, tuple[Path, ...], int, bool, int, str]

_ENTRY = -1


def grouped(
    errors: Mapping[Error, Sought], rules: Rules, places: Places, message: Callable[[str, Fact], str]
) -> list[list[Error]]:
    """The errors of which one is reported, in the order of their places. Of an object that is released, those come first in which
    the function itself releases it: it knows more of that than of what it is passed."""

    def order(error: Error) -> tuple[bool, Place]:
        is_passed = rules[error[1].rule].about_object and all(unpack(one)[1] != NOTHING for one in errors[error].at[1])
        return is_passed, _in_text(rules, places, error)

    alike: dict[tuple[str, str, int, str, str], list[Error]] = {}
    for name, fact in errors:
        key = places.place(name, fact.edge).path, name, fact.rule, message(name, fact), _lost_variable(rules[fact.rule], fact)
        alike.setdefault(key, []).append((name, fact))
    return [sorted(same, key=order) for same in alike.values()]


def distinct(
    rules: Rules, delta: ProgramDelta, places: Places, chosen: Iterable[tuple[Error, Joined]], likeliest: Choice
) -> list[tuple[Error, Joined]]:
    """The errors with their paths, without those of which another one says that the same value is lost: by another variable, or
    as a member of the same object."""

    found: dict[object, tuple[Error, Joined]] = {}
    for (name, fact), joined in sorted(chosen, key=lambda one: _in_text(rules, places, one[0])):
        key: object = name, fact
        if rules[fact.rule].ownership:
            steps = without_untracked(delta, fact, joined.steps)
            key = name, fact.rule, _comes_from(steps[beginning(delta, fact, steps) :])
        found.setdefault(key, ((name, fact), joined))
    members: dict[object, list[tuple[Error, Joined]]] = {}
    for one in found.values():
        name, fact = one[0]
        members.setdefault((name, fact.edge, fact.rule, fact.paths), []).append(one)
    return [one for same in members.values() for one in _once(rules, same, likeliest)]


def _once(rules: Rules, same: list[tuple[Error, Joined]], likeliest: Choice) -> list[tuple[Error, Joined]]:
    """Errors about one place and path, or the likeliest of them, if one is about a member. Of equals, that is another one: it
    says where the value was allocated."""
    others = [one for one in same if not is_about_member(rules[one[0][1].rule], one[0][1])]
    owned = [one for one in same if is_about_member(rules[one[0][1].rule], one[0][1])]
    return [likeliest([*others, *owned])] if others and owned else same


def _in_text(rules: Rules, places: Places, error: Error) -> Place:
    """Orders errors as they stand in the text, and those at one place by what they are: not by which was discovered first, for
    after an edit that is another one. A failure comes last, as it is looked at `beside` another error."""
    name, fact = error
    rule = rules[fact.rule]
    is_failure = rule.transitions[fact.transition].source in rule.failure_states
    return places.place(name, fact.edge).range, fact.paths, fact.rule, is_failure, fact.transition, fact.state


def _comes_from(steps: Sequence[Taken]) -> tuple[str, int]:
    """The edge nearest to the program's entry at which a value begins to be tracked, or is returned."""
    least = min(taken.depth for taken in steps)
    first = next((taken for taken in steps if taken.depth == least and taken.event in ("edge", "return")), steps[0])
    return first.function, first.edge


class Settings:
    """The edges of its function at which what an error is about is set to another value."""

    def __init__(self, cfa: Cfa, error: Error) -> None:
        self._cfa = cfa
        self._function, self._fact = error
        known = _set_by(cfa)
        path = self._fact.paths[0] if self._fact.paths else ()
        self._edges = {edge for length in range(1, len(path) + 1) for edge in known.get(path[:length], ())}

    def reaching(self) -> set[int]:
        """Those from which a way leads to the error without another one (reaching definitions); with _ENTRY if one leads there
        from the entry."""
        source = self._cfa.by_id[self._fact.edge].source
        found, waiting, seen = set[int](), [source], {source}
        while waiting:
            location = waiting.pop()
            if location == self._cfa.entry:
                found.add(_ENTRY)
            for edge in self._cfa.incoming.get(location, ()):
                if edge.id in self._edges:
                    found.add(edge.id)
                elif edge.source not in seen:
                    seen.add(edge.source)
                    waiting.append(edge.source)
        return found

    def last(self, steps: Sequence[Taken]) -> tuple[int, int]:
        """The last one on a path to the error, and the number of its step; _ENTRY and -1 without one."""
        place = self._function, self._fact.edge
        end = next(number for number in reversed(range(len(steps))) if (steps[number].function, steps[number].edge) == place)
        for number in reversed(range(end)):
            taken = steps[number]
            is_here = (taken.function, taken.depth) == (self._function, steps[end].depth)
            if is_here and taken.event in ("edge", "return") and taken.edge in self._edges:
                return taken.edge, number
        return _ENTRY, -1


@kept_with
def _set_by(cfa: Cfa) -> Mapping[Path, Sequence[int]]:
    """The edges of a function that set what a path leads to, by path."""
    found: dict[Path, list[int]] = {}
    for edge in cfa.edges:
        target = ir.target_of(edge.effect)
        path = None if target is None else path_of(target)
        if path is not None:
            found.setdefault(path, []).append(edge.id)
    return found


def beside(rules: Rules, error: Error, same: Iterable[Error]) -> list[Error]:
    """The other errors at the place of one, of those that are alike, in which something has failed: any run may come to these."""
    rule = rules[error[1].rule]
    others = [other for other in same if other != error and (other[0], other[1].edge) == (error[0], error[1].edge)]
    return [other for other in others if rule.transitions[other[1].transition].source in rule.failure_states]


def _lost_variable(rule: Rule, fact: Fact) -> str:
    """The variable that leads to what is lost, which the message does not name; empty where it is none with a name."""
    is_lost = rule.ownership and bool(fact.paths)
    return fact.paths[0][0] if is_lost and fact.paths[0][0][0] not in "$<" else ""
