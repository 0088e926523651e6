"""Which findings of two versions of a program are the same, where both versions are at hand.

`model.same_findings` compares what findings say. Of those that it leaves, two are the same, each once, if

- variables of the function have other names (`renamed_variables`), the function may have one as well, and all else is the same;
- or the same way leads to both (`same_ways`): code was taken out into a function, or a value is used sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

import msgspec

from analysis.cli.difference.renamed_variables import RenamedVariables, local_variables
from analysis.cli.difference.same_ways import begins_alike, same_way
from analysis.engines.automaton.report.clear_statements import statements_of
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.model.report import Finding, TraceStep
from analysis.model.same_findings import Compared, is_another
from analysis.model.same_findings import compare_findings as compare_words
from analysis.model.spelling import display_name

_Same = Callable[[Finding, Finding], bool]


def compare_findings(
    old: Sequence[Finding],
    new: Sequence[Finding],
    gone: Set[str],
    added: Set[str],
    programs: ProgramPair | None = None,
) -> Compared:
    """Tells the findings apart. `gone` are the names of functions of the old version that are not in the new one; `added` the
    other way round. `programs`: those of both versions; None if they are not known."""
    variables = None if programs is None else _variables(programs)

    def with_other_names(one: Finding, other: Finding) -> bool:
        if variables is None or (one.function != other.function and not (one.function in gone and other.function in added)):
            return False
        return _say_the_same(one, other, variables)

    def along_the_same_way(one: Finding, other: Finding) -> bool:
        stays = programs is not None and bool(one.at) and one.at[0] in _statements(programs, one.function)
        return same_way(one, other, gone, added, stays=stays)

    compared = compare_words(old, new, gone, added)
    fixed, introduced, same = list(compared.fixed), list(compared.introduced), list(compared.unchanged)
    for is_same in (with_other_names, along_the_same_way):
        same += _matched(fixed, introduced, is_same)
    fixed = [one for one in fixed if not any(_may_be_hidden(one, finding) for finding in introduced)]
    order = {id(finding): number for number, finding in enumerate(new)}
    same.sort(key=lambda finding: order[id(finding)])
    return Compared(tuple(introduced), tuple(fixed), tuple(same))


def _variables(programs: ProgramPair) -> RenamedVariables:
    return RenamedVariables(local_variables(programs.old.program), local_variables(programs.new.program))


def _statements(programs: ProgramPair, function: str) -> frozenset[int]:
    """The statements of the functions of a name in the new version, as `Finding.at` has them."""
    program, places = programs.new.program, programs.new.places
    found = (statements_of(cfa, places) for name, cfa in program.functions.items() if display_name(name) == function)
    return frozenset[int]().union(*found)


def _may_be_hidden(old: Finding, new: Finding) -> bool:
    """Whether an earlier finding may still be there, behind another one that says the same: one of several is reported."""
    is_alike = (old.rule, old.function, old.message) == (new.rule, new.function, new.message)
    return is_alike and is_another(old, new) and not is_another(new, old)


def _is_another(old: Finding, new: Finding) -> bool:
    """`is_another`; where a value that comes from the same place as before is reported in another function, the calls on the way
    to it may be others."""
    if old.function != new.function and begins_alike(old, new):
        new = msgspec.structs.replace(new, at=new.at[:1])  # the statement
    return is_another(old, new)


def _matched(old: list[Finding], new: list[Finding], is_same: _Same) -> list[Finding]:
    """The findings of the new version that are one of the old; both are taken off the lists."""
    found = []
    for finding in list(new):
        alike = (one for one in old if one.rule == finding.rule and not _is_another(one, finding))
        other = next((one for one in alike if is_same(one, finding)), None)
        if other is not None:
            old.remove(other)
            new.remove(finding)
            found.append(finding)
    return found


def _say_the_same(one: Finding, other: Finding, variables: RenamedVariables) -> bool:
    """Whether the message of one finding, and a step on its way, are those of the other with other names of variables."""
    renaming = variables.function(one.function, other.function)
    if not renaming.is_possible or not renaming.takes(one.message, _as(one, other, other.message)):
        return False
    mine, theirs = _steps(one), _steps(other)
    if not mine and not theirs:
        return True
    return any(
        renaming.takes(step.text, _as(one, other, at.text))
        for step in mine
        for at in theirs
        if (step.function, at.function) == (one.function, other.function)
    )


def _as(one: Finding, other: Finding, text: str) -> str:
    """A text of the other finding with the name that its function had."""
    return text if one.function == other.function else text.replace(other.function, one.function)


def _steps(finding: Finding) -> Sequence[TraceStep]:
    return [step for step in finding.trace if step.kind not in ("entry", "error")]
