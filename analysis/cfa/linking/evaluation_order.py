"""The assumptions of every proof about a program. Where the order of evaluation could matter, nothing is proved
(`cfa.linking.open_order`). That check itself assumes `ORDER`, which is reported if the program has unordered side
effects."""

from __future__ import annotations

from analysis.cfa.graph import Program
from analysis.cfa.linking.library_names import taken_for_library
from analysis.cfa.linking.used_in_threads import called_in_one_thread
from analysis.model.assumptions import BEFORE, ORDER


def assumptions_of(program: Program) -> tuple[str, ...]:
    """Returns the assumptions of every proof about the program, as sentences."""
    is_open = any(cfa.unordered for cfa in program.functions.values())
    order = (ORDER.sentence,) if is_open else ()
    return (BEFORE.sentence, *order, *taken_for_library(program), *called_in_one_thread(program))
