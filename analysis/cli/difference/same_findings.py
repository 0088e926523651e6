"""Which findings of two versions of a program are the same.

A fingerprint holds the rule, the function, the message and the source text that violates, but no line and no file. It is the same
where code only moved. More findings are taken for the same, each once:

- The function, the rule and the message are the same, and the traces have a step in common that is neither the first nor the
  last: the defect is reported at another statement, because the first one went, or one came before it.
- The function has another name: the old name is gone, the new one was not there, and all else is the same.
- Variables of the function have other names (`renamed_variables`), the function may have one as well, and all else is the same.
- The same way leads to both (`same_ways`): code was taken out into a function, or a value is used sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set

import msgspec

from analysis.cli.difference.renamed_variables import RenamedVariables
from analysis.cli.difference.same_ways import same_way
from analysis.model.report import Finding, TraceStep

Same = Callable[[Finding, Finding], bool]


class Compared(msgspec.Struct, frozen=True):
    """The findings of two versions: those `introduced` and `unchanged` are in the new one, those `fixed` were in the old one."""

    introduced: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]


def compare_findings(
    old: Sequence[Finding], new: Sequence[Finding], gone: Set[str], added: Set[str], variables: RenamedVariables | None = None
) -> Compared:
    """Tells the findings apart. `gone` are the names of functions of the old version that are not in the new one; `added` the
    other way round. `variables`: those of both versions; None if they are not known."""
    left_old, left_new = list(old), list(new)
    same: list[Finding] = []

    def renamed(one: Finding, other: Finding) -> bool:
        return one.function in gone and other.function in added and _are_alike(_unnamed(one), _unnamed(other))

    def with_other_names(one: Finding, other: Finding) -> bool:
        if variables is None or (one.function != other.function and not (one.function in gone and other.function in added)):
            return False
        return _say_the_same(one, other, variables)

    def along_the_same_way(one: Finding, other: Finding) -> bool:
        return same_way(one, other, gone, added)

    ways = (
        (_by_fingerprint, _always),
        (_by_message, _have_a_step_in_common),
        (_by_unnamed, renamed),
        (_by_rule, with_other_names),
        (_by_rule, along_the_same_way),
    )
    for key, is_same in ways:
        same += _matched(left_old, left_new, key, is_same)
    order = {id(finding): number for number, finding in enumerate(new)}
    same.sort(key=lambda finding: order[id(finding)])
    return Compared(tuple(left_new), tuple(left_old), tuple(same))


def _matched(old: list[Finding], new: list[Finding], key: Callable[[Finding], Hashable], is_same: Same) -> list[Finding]:
    """The findings of the new version that are one of the old; both are taken off the lists."""
    found = []
    for finding in list(new):
        other = next((one for one in old if key(one) == key(finding) and is_same(one, finding)), None)
        if other is not None:
            old.remove(other)
            new.remove(finding)
            found.append(finding)
    return found


def _by_fingerprint(finding: Finding) -> Hashable:
    return finding.fingerprint


def _by_message(finding: Finding) -> Hashable:
    return finding.rule, finding.function, finding.message


def _by_unnamed(finding: Finding) -> Hashable:
    return finding.rule, finding.message.replace(finding.function, "")


def _by_rule(finding: Finding) -> Hashable:
    return finding.rule


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


def _always(_one: Finding, _other: Finding) -> bool:
    return True


def _have_a_step_in_common(one: Finding, other: Finding) -> bool:
    return _are_alike(_on_the_way(one), _on_the_way(other))


def _are_alike(mine: Set[str], theirs: Set[str]) -> bool:
    """Whether a step on the way is the same. Traces without such steps are alike."""
    return not mine.isdisjoint(theirs) or not (mine or theirs)


def _on_the_way(finding: Finding) -> Set[str]:
    return {step.text for step in _steps(finding)}


def _steps(finding: Finding) -> Sequence[TraceStep]:
    return [step for step in finding.trace if step.kind not in ("entry", "error")]


def _unnamed(finding: Finding) -> Set[str]:
    """The steps on the way, without the name of the function."""
    return {text.replace(finding.function, "") for text in _on_the_way(finding)}
