"""Which findings of two versions of a program are the same.

A fingerprint holds the rule, the function, the message and the source text that violates, but no line and no file. It is the same
where code only moved. Three more findings are taken for the same, each once:

- The function, the rule and the message are the same, and the traces have a step in common that is neither the first nor the
  last: the defect is reported at another statement, because the first one went, or one came before it.
- The value is used through another name: one of both traces makes the one variable from the other, as `h = (struct header *) s`
  does, the messages differ in nothing but these names, and a step on the way is the same.
- The function has another name: the old name is gone, the new one was not there, and all else is the same.

In each case the statement must not be one that was there before and had no such error: then a defect was fixed here, and another
one introduced there, that says the same (`is_another`).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence, Set

import msgspec

from analysis.model.digest import digest_text
from analysis.model.report import Finding, Report

_DIGITS = 8  # of a digest: 32 bits
_NAME = re.compile(r"`(\w+)`")
"""The first is that of the variable that a message is about."""


class Known(msgspec.Struct, frozen=True):
    """What a finding is known by. `steps` are the texts of its trace between the first and the last; `clear` as in `Finding`."""

    rule: str
    function: str
    message: str
    fingerprint: str
    steps: tuple[str, ...]
    clear: bytes = b""


def is_another(old: Finding | Known, new: Finding) -> bool:
    """Whether a finding cannot be what an earlier one was: a statement that it is at, or a call that its value comes from, was
    there before, and had no such error."""
    return bool(new.at) and bool(old.clear) and not set(new.at).isdisjoint(array("I", old.clear))


def number_of(text: str) -> int:
    """What stands for a statement, a call or a variable in `Finding.at` and `clear`: a digest of 32 bits."""
    return int(digest_text(text)[:_DIGITS], 16)


def number_of_variable(name: str) -> int:
    """The number of a variable of the function of a finding."""
    return number_of(f"variable {name}")


def _is_another_value(old: Known, new: Finding) -> bool:
    """`is_another`, where a step shows that the variable of the one finding was made from that of the other: that of the new one
    held the value before as well."""
    variables = {number_of_variable(found[1]) for found in [_NAME.search(new.message)] if found is not None}
    return is_another(old, msgspec.structs.replace(new, at=tuple(one for one in new.at if one not in variables)))


def known(finding: Finding) -> Known:
    """What a finding is known by."""
    steps = dict.fromkeys(step.text for step in finding.trace if step.kind not in ("entry", "error"))
    return Known(finding.rule, finding.function, finding.message, finding.fingerprint, tuple(steps), finding.clear)


class FoundThere(msgspec.Struct, frozen=True):
    """What is known of texts: their findings, the names of their functions, and the fingerprints of what was refuted."""

    findings: tuple[Known, ...]
    functions: tuple[str, ...]
    refuted: tuple[str, ...]


def found_in(report: Report) -> FoundThere:
    """What a report has found."""
    return FoundThere(
        tuple(map(known, report.findings)),
        tuple(sorted({function.name for function in report.functions})),
        report.refuted_findings,
    )


class Compared(msgspec.Struct, frozen=True):
    """The findings of two versions: those `introduced` and `unchanged` are in the new one, those `fixed` were in the old one."""

    introduced: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]


def compare_findings(old: Sequence[Finding], new: Sequence[Finding], gone: Set[str], added: Set[str]) -> Compared:
    """Tells the findings apart. `gone` are the names of functions of the old version that are not in the new one; `added` the
    other way round."""
    earlier = EarlierFindings(tuple(map(known, old)))
    same = earlier.matched(new, lambda: (gone, added))
    kept = frozenset(same.values())
    return Compared(
        introduced=tuple(finding for number, finding in enumerate(new) if number not in same),
        fixed=tuple(finding for number, finding in enumerate(old) if number not in kept),
        unchanged=tuple(new[number] for number in sorted(same)),
    )


class EarlierFindings:
    """The findings of an earlier version, to be compared again and again with those of later ones."""

    def __init__(self, findings: Sequence[Known]) -> None:
        self._findings = findings
        self._fingerprints = _by_key(findings, _fingerprint, range(len(findings)))

    def matched(self, new: Sequence[Finding], renamed: Callable[[], tuple[Set[str], Set[str]]]) -> dict[int, int]:
        """The earlier finding that each new one is the same as, by number. `renamed` gives the names of functions that are gone
        and added since; it is asked only where not all have the same fingerprints."""
        found: dict[int, int] = {}
        taken: set[int] = set()  # equal fingerprints stand for several findings: each is found once
        left: list[int] = []
        for number, finding in enumerate(new):
            numbers = self._fingerprints.get(finding.fingerprint, ())
            same = next((one for one in numbers if one not in taken and not is_another(self._findings[one], finding)), None)
            if same is not None:
                found[number] = same
                taken.add(same)
            else:
                left.append(number)
        if left and len(found) < len(self._findings):
            self._match_others(new, left, renamed, found)
        return found

    def _match_others(
        self, new: Sequence[Finding], left: list[int], renamed: Callable[[], tuple[Set[str], Set[str]]], found: dict[int, int]
    ) -> None:
        used = frozenset(found.values())
        free = [number for number in range(len(self._findings)) if number not in used]
        others = {number: new[number] for number in left}
        _match(self._findings, free, others, _message, _has_a_step_in_common, found)
        _match(self._findings, free, others, _nameless_message, _is_used_through_another_name, found, _is_another_value)
        if others and free:
            gone, added = renamed()
            is_renamed = _Renamed(gone, added)
            _match(self._findings, free, others, _unnamed_message, is_renamed, found)


class _Renamed:
    """Whether two findings are the same but for the name of their function."""

    def __init__(self, gone: Set[str], added: Set[str]) -> None:
        self._gone, self._added = gone, added

    def __call__(self, one: Known, other: Known) -> bool:
        return one.function in self._gone and other.function in self._added and _are_alike(_unnamed(one), _unnamed(other))


def _match(
    old: Sequence[Known],
    free: list[int],
    others: dict[int, Finding],
    key: Callable[[Known], Hashable],
    is_same: Callable[[Known, Known], bool],
    found: dict[int, int],
    differs: Callable[[Known, Finding], bool] = is_another,
) -> None:
    """Adds the pairs with the same key that are the same; both are taken out of what is left."""
    by_key = _by_key(old, key, free)
    for number, finding in list(others.items()):
        now = known(finding)
        numbers = by_key.get(key(now), [])
        same = next((one for one in numbers if is_same(old[one], now) and not differs(old[one], finding)), None)
        if same is not None:
            numbers.remove(same)
            free.remove(same)
            found[number] = same
            del others[number]


def _by_key(findings: Sequence[Known], key: Callable[[Known], Hashable], numbers: Iterable[int]) -> dict[Hashable, list[int]]:
    by_key: dict[Hashable, list[int]] = {}
    for number in numbers:
        by_key.setdefault(key(findings[number]), []).append(number)
    return by_key


def _fingerprint(finding: Known) -> Hashable:
    return finding.fingerprint


def _message(finding: Known) -> Hashable:
    return finding.rule, finding.function, finding.message


def _nameless_message(finding: Known) -> Hashable:
    return finding.rule, finding.function, _NAME.sub("``", finding.message, count=1)


def _is_used_through_another_name(one: Known, other: Known) -> bool:
    mine, theirs = _NAME.search(one.message), _NAME.search(other.message)
    if mine is None or theirs is None or mine[1] == theirs[1]:
        return False
    is_made = _is_made_from(mine[1], theirs[1], one.steps) or _is_made_from(theirs[1], mine[1], other.steps)
    on_the_way = {step for step in one.steps if not step.startswith("return ")}  # what many functions do
    return is_made and not on_the_way.isdisjoint(other.steps)


def _is_made_from(name: str, origin: str, steps: Sequence[str]) -> bool:
    """Whether a step gives a variable a value for which another variable is read."""
    made = re.compile(rf"{re.escape(name)} = .*(?<!\w){re.escape(origin)}(?!\w)")
    return any(made.match(step) for step in steps)


def _unnamed_message(finding: Known) -> Hashable:
    return finding.rule, finding.message.replace(finding.function, "")


def _has_a_step_in_common(one: Known, other: Known) -> bool:
    return _are_alike(frozenset(one.steps), frozenset(other.steps))


def _are_alike(mine: Set[str], theirs: Set[str]) -> bool:
    """Whether a step on the way is the same. Traces without such steps are alike."""
    return not mine.isdisjoint(theirs) or not (mine or theirs)


def _unnamed(finding: Known) -> Set[str]:
    """The steps on the way, without the name of the function."""
    return frozenset(text.replace(finding.function, "") for text in finding.steps)
