"""diffDP: the difference detector that follows data dependencies and looks at the property ([DIFFDP] Algorithm 2).

It aligns paths of the new version with *witness paths* of the old one, which begin alike and violate the property no later. From
a pair of locations, an edge of the new version leads on as follows.

- An assignment that the old version makes as well, at once or behind other assignments, is made by both (lines 5-10). Else the
  old version stays where it is, and what is written is affected. (If the old version assigns to the same variable there, it goes
  along, as footnote 4 of the paper has it.) To take an input counts as an assignment.
- Before anything else, the old version makes all assignments that come next in it; what they write is affected (lines 12-14).
- A branch that both versions have is taken by both, if its condition does not depend on what is affected; if it does, no witness
  path is known (line 16). A branch that only the new version has is taken by it alone (lines 17-18).
- A call that both versions make is followed into both versions of what is called (`detection`); parameters to which they pass
  other expressions are affected there. Of an external function, `c.functions` says what it changes. A call
  that only one of the versions makes leaves no witness path.
- Both versions return together.
- Where the new version comes to an error location, the old one must, too, after assignments alone (footnote 6).

The property is a `Goal`. Where undefined behaviour belongs to it, an edge of the new version that could do something undefined
must be one of both versions and not depend on what is affected; the old version may skip such an edge, as it violates the
property there if it fails. For "behaviour", no branch of the new version is taken by it alone, so that the new version ends
where the old one does; and it must not fail to violate the property where the old one does.

One thing is not as in the paper, where an indicator stands for all alignments of its location: here it stands for the one
alignment that has no witness path. An edge leads to one node only in both cases.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from analysis.certificate.nonzero.writes import Place
from analysis.cfa.graph import Edge
from analysis.engines.difference.alignment import (
    after_assignment,
    at_next_step,
    both_err,
    called_functions,
    comes_around,
    is_assignment,
    same_assignment,
    same_edge,
    same_target,
    stays,
    unlike_errors,
)
from analysis.engines.difference.dependencies import NOTHING, OUTSIDE, RESULT, Affected, may_fail
from analysis.engines.difference.detection import INDICATOR, After, Calls, joined
from analysis.engines.difference.function_pairs import FunctionPair, ProgramPair, Side
from analysis.model import ir

Goal = Literal["assertions", "violations", "behaviour"]
"""What must not become possible: that an assertion fails, in runs where nothing undefined happens; that one fails or something
undefined happens; or that the program does anything else than before, in runs where that was defined."""


class DataDetector:
    """diffDP for two versions and a property."""

    def __init__(self, programs: ProgramPair, goal: Goal, outermost: str | None = None, equal: Set[str] = frozenset()) -> None:
        """`outermost`: a function that nothing calls, so that it does not matter how it ends. `equal`: functions that do the same
        in both versions, if they are called with the same; the set may grow."""
        self._programs = programs
        self._goal = goal
        self._outermost = outermost
        self._equal = equal

    def begins(self, pair: FunctionPair) -> bool:
        """Whether the entries of both versions are aligned. Where pointers to variables are used, these must not end
        elsewhere."""
        if self._goal != "assertions" and not pair.has_same_blocks:
            return False
        if self._goal == "behaviour" and (
            pair.uses_changed or stays(pair.new, pair.new.cfa.entry) or not self._programs.follows(pair.new.cfa.name)
        ):
            return False
        return not unlike_errors(pair, pair.new.cfa.entry, pair.old.cfa.entry)

    def step(self, pair: FunctionPair, edge: Edge, partner: int, affected: Affected, calls: Calls) -> After:
        """What is behind an edge of the new version."""
        if is_assignment(edge.effect):
            after = self._assigned(pair, edge, partner, affected)
        else:
            skipped = at_next_step(pair.old, partner, affected)
            after = INDICATOR if skipped is None else self._stepped(pair, edge, *skipped, calls)
        if after.partner is None or after.ended:
            return after
        if edge.target == pair.new.cfa.exit or (self._goal == "behaviour" and stays(pair.new, edge.target)):
            return self._at_end(pair, edge.target, after)
        return self._at_errors(pair, edge.target, after)

    def _at_end(self, pair: FunctionPair, location: int, after: After) -> After:
        """The same, if the old version has come to its exit as well, or stays where it is for ever as the new one does."""
        assert after.partner is not None
        last = at_next_step(pair.old, after.partner, after.affected)
        if last is None:
            return INDICATOR
        is_exit = location == pair.new.cfa.exit
        if not (last.location == pair.old.cfa.exit if is_exit else stays(pair.old, last.location)):
            return INDICATOR
        return after._replace(partner=last.location, affected=last.affected)

    def _at_errors(self, pair: FunctionPair, location: int, after: After) -> After:
        """The same, if the old version violates the property wherever the new one does."""
        assert after.partner is not None
        if location not in pair.new.errors:
            if after.partner not in pair.old.errors:
                return after
            # no run with these inputs is a regression any more
            return INDICATOR if self._goal == "behaviour" else after._replace(ended=True)
        last = at_next_step(pair.old, after.partner, after.affected)
        if last is None or not both_err(pair, location, last.location):
            return INDICATOR
        return after._replace(ended=True)

    # -- assignments -------------------------------------------------------------------------------------------

    def _assigned(self, pair: FunctionPair, edge: Edge, partner: int, affected: Affected) -> After:
        found = same_assignment(pair, edge, partner, affected)
        if found is not None:
            other, affected = found
            depends = pair.new.dependencies.effect_depends(edge.effect, affected)
            if depends and self._must_not_fail(pair, edge):
                return INDICATOR
            return After(other.target, after_assignment(pair.new, edge.effect, affected))
        if self._must_not_fail(pair, edge) or (self._goal == "behaviour" and comes_around(pair.new, edge)):
            return INDICATOR
        affected |= pair.new.dependencies.written_alone(edge.effect)
        beside = same_target(pair, edge, partner)
        return After(partner if beside is None else beside.target, affected)

    def _must_not_fail(self, pair: FunctionPair, edge: Edge) -> bool:
        return self._goal != "assertions" and (may_fail(edge.effect) or edge.id in pair.new.unset_reads)

    # -- all else ----------------------------------------------------------------------------------------------

    def _stepped(self, pair: FunctionPair, edge: Edge, partner: int, affected: Affected, calls: Calls) -> After:
        match edge.effect:
            case ir.Assume():
                return self._assumed(pair, edge, partner, affected)
            case ir.Call() as call:
                return self._called(pair, edge, call, partner, affected, calls)
            case ir.Return():
                return self._returned(pair, edge, partner, affected)
            case _:
                return INDICATOR

    def _assumed(self, pair: FunctionPair, edge: Edge, partner: int, affected: Affected) -> After:
        other = same_edge(pair, edge, partner)
        if other is not None:
            differs = pair.new.dependencies.effect_depends(edge.effect, affected)
            return INDICATOR if differs else After(other.target, affected)
        if self._goal == "behaviour" or self._must_not_fail(pair, edge):
            return INDICATOR
        return After(partner, affected)

    def _returned(self, pair: FunctionPair, edge: Edge, partner: int, affected: Affected) -> After:
        others = [other for other in pair.old.outgoing(partner) if isinstance(other.effect, ir.Return)]
        if pair.new.cfa.name == self._outermost and self._goal == "assertions":
            return After(pair.old.cfa.exit, ended=True)
        if not others:
            return INDICATOR
        same = same_edge(pair, edge, partner)
        differs = same is None or pair.new.dependencies.effect_depends(edge.effect, affected)
        if differs and self._must_not_fail(pair, edge):
            return INDICATOR
        return After(others[0].target, affected | {RESULT} if differs else affected - {RESULT})

    # -- calls -------------------------------------------------------------------------------------------------

    def _called(self, pair: FunctionPair, edge: Edge, call: ir.Call, partner: int, affected: Affected, calls: Calls) -> After:
        other = _same_call(pair, call, partner)
        targets = None if other is None else called_functions(self._programs, pair, edge.id, other.id)
        if other is None or targets is None or pair.new.dependencies.depends((call.callee,), affected):
            return INDICATOR
        others = _other_arguments(call, other.effect)
        if targets.external and others:
            return INDICATOR
        if self._must_not_fail(pair, edge) and (others or pair.new.dependencies.effect_depends(call, affected)):
            return INDICATOR
        behind: list[Affected] = []
        contexts = []
        for name in targets.external:
            outside = self._outside(pair, name, call, affected)
            if outside is None:
                return INDICATOR
            behind.append(outside)
        for name in targets.defined:
            if not affected and not others and name in self._equal:
                behind.append(_left(pair.new, call, affected, NOTHING))
                continue
            entered = self._entered(name, pair.new, call, others, affected)
            found = None if entered is None else calls.returned(name, entered)
            if found is None:
                return INDICATOR
            contexts.append(found[0])
            if found[1] is not None:
                behind.append(_left(pair.new, call, affected, found[1]))
        return After(other.target, joined(behind), tuple(contexts), ended=not behind)

    def _outside(self, pair: FunctionPair, name: str, call: ir.Call, affected: Affected) -> Affected | None:
        program = self._programs.new.program
        found = pair.new.dependencies.outside(name, program.known(name), call, affected)
        if not found.comes_back or (self._goal != "assertions" and not found.is_same):
            return None
        return found.affected

    def _entered(self, name: str, caller: Side, call: ir.Call, others: Set[int], affected: Affected) -> Affected | None:
        """What is affected in a function that is called, with `others` among its arguments; None if it cannot be compared, or is
        passed other things than it has parameters for."""
        pair = self._programs.pair(name)
        if pair is None or len(call.arguments) < len(pair.new.cfa.parameters):
            return None
        found = {_from_outside(one) for one in affected if isinstance(one, Place)} | (affected & {OUTSIDE})
        for at, argument in enumerate(call.arguments):
            if at in others or caller.dependencies.depends((argument,), affected):
                if at >= len(pair.new.cfa.parameters):
                    return None
                found.add(pair.new.dependencies.place(pair.new.cfa.parameters[at]))
        return frozenset(found)


def _same_call(pair: FunctionPair, call: ir.Call, partner: int) -> Edge | None:
    """The call of the old version that is the same, but for the values of arguments."""
    for other in pair.old.outgoing(partner):
        effect = other.effect
        if isinstance(effect, ir.Call) and (effect.callee, effect.result) == (call.callee, call.result):
            types = [argument.type for argument in effect.arguments]
            if types == [argument.type for argument in call.arguments]:
                return other
    return None


def _other_arguments(call: ir.Call, other: ir.Effect) -> frozenset[int]:
    """The numbers of the arguments that are other expressions in the call of the old version."""
    assert isinstance(other, ir.Call)
    pairs = zip(call.arguments, other.arguments, strict=True)
    return frozenset(at for at, (mine, theirs) in enumerate(pairs) if mine != theirs)


def _from_outside(place: Place) -> Place:
    """What a place of the caller is to a function that is called: variables of the caller have no name there."""
    return place if not place.variable or place.variable.startswith("global ") else place._replace(variable="")


def visible(affected: Affected) -> Affected:
    """What is affected that a caller can notice: nothing of the function's own variables."""
    return frozenset(
        one
        for one in affected
        if one in (OUTSIDE, RESULT) or (isinstance(one, Place) and (not one.variable or one.variable.startswith("global ")))
    )


def _left(caller: Side, call: ir.Call, affected: Affected, exit_: Affected) -> Affected:
    """What is affected when both versions have returned to the caller."""
    own = affected - visible(affected)
    now = own | (visible(exit_) - {RESULT})
    return now if call.result is None else caller.dependencies.after_write(call.result, RESULT in exit_, now)
