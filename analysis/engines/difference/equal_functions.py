"""Which functions that a change concerns were proved to do what they did, by diffDP.

A function does the same if, entered with the same arguments and memory, no path of its difference graph for the goal "behaviour"
comes to a regression bug indicator, and nothing is affected where it returns that a caller can notice: its result, memory, and
what external functions do. Callees come before callers, so that those that do the same are not followed again.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.callgraph import components
from analysis.engines.difference.data_detector import DataDetector, visible
from analysis.engines.difference.dependencies import NOTHING
from analysis.engines.difference.detection import Detection
from analysis.engines.difference.difference_condition import condition_of
from analysis.engines.difference.difference_graph import Context
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.engines.difference.unchanged_functions import Difference


def with_proved(programs: ProgramPair, differences: Mapping[str, Difference]) -> dict[str, Difference]:
    """The differences of the functions of the new version, with those that are `possible` and were proved not to be there."""
    found = dict(differences)
    equal = {name for name, difference in differences.items() if difference == "none"}
    detection = Detection(programs, DataDetector(programs, "behaviour", equal=equal))
    for component in components(programs.new.program):
        for name in component:
            if found.get(name) == "possible" and _is_equal(detection, name):
                found[name] = "proved-equivalent"
                equal.add(name)
    return found


def _is_equal(detection: Detection, name: str) -> bool:
    context = Context(name, NOTHING)
    if not condition_of(detection.explore(context)).covers_all:
        return False
    return not visible(detection.exit(context) or NOTHING)
