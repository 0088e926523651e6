"""Difference conditions of whole programs: a detector and Algorithm 1, one after the other ([DIFFDP] section 2, Theorem 2.1)."""

from __future__ import annotations

from typing import Literal

from analysis.certificate.nonzero.writes import Place
from analysis.cfa.callgraph import callees
from analysis.engines.difference.data_detector import DataDetector, Goal
from analysis.engines.difference.dependencies import Affected
from analysis.engines.difference.detection import Detection
from analysis.engines.difference.difference_condition import Condition, condition_of
from analysis.engines.difference.difference_graph import Context, ProgramGraph, unaligned
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.engines.difference.syntax_detector import SyntaxDetector

Method = Literal["diffCond", "diffDP"]


def affected_at_start(programs: ProgramPair) -> Affected:
    """The variables that may hold other values in the new version before anything has run."""
    return frozenset(Place("any", variable=f"global {name}") for name in programs.changed_variables)


def difference_graph(programs: ProgramPair, entry: str, method: Method = "diffDP", goal: Goal = "assertions") -> ProgramGraph:
    """The difference graph of the paths from an entry function, where a program begins. diffCond looks at no property. Where
    control may not be where CFAs have it, all paths have to be looked at."""
    context = Context(entry, affected_at_start(programs))
    if not programs.is_followed(entry):
        return unaligned(context)
    if method == "diffCond":
        detection = Detection(programs, SyntaxDetector(programs))
    else:
        both = (programs.new.program, entry), (programs.old.program, programs.old_name(entry))
        is_called = any(name in called for program, name in both for called in callees(program).values())
        detection = Detection(programs, DataDetector(programs, goal, None if is_called else entry))
    return detection.explore(context)


def difference_condition(programs: ProgramPair, entry: str, method: Method = "diffDP", goal: Goal = "assertions") -> Condition:
    """The condition that covers no path with a regression bug."""
    return condition_of(difference_graph(programs, entry, method, goal))
