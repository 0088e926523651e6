"""Proofs that an edit has put in question: they are shown as such until provers have answered, so that what was proved neither
disappears meanwhile nor is shown as proved. While a part of the text does not parse, as after most keys, all that was proved is
shown so, and nothing is blamed: proofs of all runs are not looked for then, and what a proof from any state lacks is no news.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from analysis.model.report import RECHECKED, STORED, UNPARSED, FunctionReport, RuleVerdict

_WITH_ANNOTATIONS = ("predicate", "value", "symbolic")
Rules = frozenset[str]


class RecheckedProofs:
    """Remembers which rules were proved of which functions, by linkage name."""

    def __init__(self) -> None:
        self._proved: dict[str, Rules] = {}
        self._last: dict[str, tuple[FunctionReport, Rules]] = {}
        self._stored: dict[tuple[str, str], Rules] = {}  # by file and name, before anything else is known
        self._unproved: dict[int, FunctionReport] = {}  # by identity: of these, nothing is proved
        self.is_any = False  # whether anything was marked last

    def forget(self) -> None:
        """Nothing was proved before."""
        self._proved, self._last, self._stored, self._unproved = {}, {}, {}, {}

    def reopened(self, functions: Sequence[FunctionReport]) -> tuple[FunctionReport, ...]:
        """Functions as an earlier process has reported them, with a mark at what is to be checked again. Proofs by the contracts
        of functions are made again only where they are not kept."""
        found = []
        for function in functions:
            verdicts = function.verdicts.items()
            proved = _proved(function)
            rules = frozenset(
                rule for rule, one in verdicts if one.rechecked or (rule in proved and one.engine in _WITH_ANNOTATIONS)
            )
            if rules:
                self._stored[function.place.path, function.name] = rules
            found.append(_marked(function, rules, STORED) if rules else function)
        return tuple(found)

    def marked(
        self,
        functions: Sequence[FunctionReport],
        reports: Mapping[str, FunctionReport],
        before: Sequence[FunctionReport],
        is_asked: Callable[[str, str], bool],
        *,
        understood: bool,
    ) -> tuple[FunctionReport, ...]:
        """The functions, with a mark where a rule was proved, is not any more, and is being asked about, or not all text parses
        (`understood`). `before` are the same ones as `reports` has them, by linkage name; `is_asked` says whether an answer about
        a function and a rule is to come."""
        if self._proved or self._stored or not self._is_nothing_proved(functions):
            return self._compared(functions, reports, before, is_asked, understood=understood)
        self.is_any = False
        return tuple(functions)

    def _compared(
        self,
        functions: Sequence[FunctionReport],
        reports: Mapping[str, FunctionReport],
        before: Sequence[FunctionReport],
        is_asked: Callable[[str, str], bool],
        *,
        understood: bool,
    ) -> tuple[FunctionReport, ...]:
        names = {id(report): name for name, report in reports.items()}
        known, self._proved = self._proved, {}
        last, self._last = self._last, {}
        stored, self._stored = self._stored, {}
        marked, self.is_any = [], False
        for function, old in zip(functions, before, strict=True):
            name = names.get(id(old))
            if name is None:
                marked.append(function)
                continue
            seen = last.get(name)
            proved = seen[1] if seen is not None and seen[0] is function else _proved(function)
            self._last[name] = function, proved
            was = known.get(name, frozenset()) | stored.get((function.place.path, function.name), frozenset())
            if understood:
                asked = frozenset(rule for rule in was if _is_open(function, rule) and is_asked(name, rule))
            else:
                asked = frozenset(
                    rule for rule in was if rule in function.verdicts and function.verdicts[rule].verdict == "unknown"
                )
            is_marked = bool(asked) and not function.stale
            self.is_any = self.is_any or is_marked
            marked.append(_marked(function, asked, RECHECKED if understood else UNPARSED) if is_marked else function)
            if proved or asked:
                self._proved[name] = proved | asked
        if not understood:  # what does not parse is not among the reports
            self._proved = known | self._proved
        return tuple(marked)

    def _is_nothing_proved(self, functions: Sequence[FunctionReport]) -> bool:
        """Whether no rule is proved of any function. Of reports that are the same objects as the last time, it is known."""
        if any(_proved(function) for function in functions if id(function) not in self._unproved):
            return False
        self._unproved = {id(function): function for function in functions}
        return True


def _proved(function: FunctionReport) -> Rules:
    return frozenset(rule for rule, verdict in function.verdicts.items() if verdict.verdict == "safe" and verdict.certified)


def _is_open(function: FunctionReport, rule: str) -> bool:
    verdict = function.verdicts.get(rule)
    return verdict is not None and verdict.verdict == "unknown" and not verdict.broken


def _marked(function: FunctionReport, rules: Rules, reason: str) -> FunctionReport:
    changed = {rule: RuleVerdict("unknown", reason, (), function.verdicts[rule].engine, rechecked=True) for rule in rules}
    verdicts = {rule: changed.get(rule, verdict) for rule, verdict in function.verdicts.items()}
    return msgspec.structs.replace(function, verdicts=verdicts)
