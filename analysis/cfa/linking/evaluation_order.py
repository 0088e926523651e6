"""The assumptions of every proof about a program. Where the order of evaluation could matter, nothing is proved
(`cfa.linking.open_order`), but by `certificate.nonzero.open_orders` and `certificate.ownership.open_operands`. That check assumes
`ORDER`, which is reported if the program has unordered side effects."""

from __future__ import annotations

from analysis.c import control
from analysis.cfa.callgraph import called
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.library_names import taken_for_library
from analysis.cfa.linking.project_contracts import relied_on
from analysis.cfa.linking.union_rests import kept_behind_members
from analysis.cfa.linking.used_in_threads import called_in_one_thread
from analysis.model.assumptions import BEFORE, ORDER, UNREACHABLE
from analysis.model.kept_with import kept_with


@kept_with
def assumptions_of(program: Program) -> tuple[str, ...]:
    """Returns the assumptions of every proof about the program, as sentences."""
    is_open = any(cfa.unordered for cfa in program.functions.values())
    order = (ORDER.sentence,) if is_open else ()
    comes = any(map(_says_unreachable, program.functions.values()))
    unreachable = (UNREACHABLE.sentence,) if comes else ()
    listed = *taken_for_library(program), *relied_on(program), *called_in_one_thread(program), *kept_behind_members(program)
    return (BEFORE.sentence, *order, *unreachable, *listed)


def _says_unreachable(cfa: Cfa) -> bool:
    named, _ = called(cfa)
    return control.UNREACHABLE in named
