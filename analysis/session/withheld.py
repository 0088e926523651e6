"""Findings that are not reported: silenced by a comment, or known from a baseline; and what that makes of the verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analysis.engines.automaton.report.answers import NOT_REACHED
from analysis.model.report import Finding, FunctionReport, RuleVerdict, Verdict

_MAY_BE_REACHED = "a part of the program does not parse, and may call it"


def settle(
    functions: Sequence[FunctionReport], kept: Sequence[Finding], withheld: Sequence[tuple[Finding, str]]
) -> tuple[FunctionReport, ...]:
    """Functions whose only findings for a rule are withheld no longer count as violated.

    Nothing is proved by that: the verdict is then `unknown`, and the reason names what withheld them.
    """
    if not withheld:
        return tuple(functions)
    reported = {(f.function, f.rule) for f in kept}
    reasons: dict[tuple[str, str], list[str]] = {}
    for finding, reason in withheld:
        if (finding.function, finding.rule) not in reported:
            reasons.setdefault((finding.function, finding.rule), []).append(reason)
    return tuple(_settle_one(function, reasons) for function in functions)


def _settle_one(function: FunctionReport, reasons: dict[tuple[str, str], list[str]]) -> FunctionReport:
    changed: dict[str, RuleVerdict] = {}
    for rule, verdict in function.verdicts.items():
        why = reasons.get((function.name, rule))
        if why and verdict.verdict == "violated":
            reason = "; ".join(dict.fromkeys(why))
            changed[rule] = msgspec.structs.replace(verdict, verdict="unknown", reason=reason)
    return msgspec.structs.replace(function, verdicts={**function.verdicts, **changed}) if changed else function


def may_be_reached(function: FunctionReport) -> FunctionReport:
    """Of a program that does not parse as a whole, nobody knows what is not reached: what does not parse may call it."""
    changed = {
        rule: msgspec.structs.replace(verdict, reason=_MAY_BE_REACHED)
        for rule, verdict in function.verdicts.items()
        if verdict.reason == NOT_REACHED
    }
    return msgspec.structs.replace(function, verdicts={**function.verdicts, **changed}) if changed else function


def overall(functions: Sequence[FunctionReport], findings: Sequence[Finding], complete: bool) -> Verdict:
    """The verdict of a whole report; `complete` False: something asked for was not checked at all.

    A check without any function proves nothing, so it is `unknown`. Functions that no entry leads to do not take away what is
    proved of the program, nor do rules that nothing in a function could violate; but something must be proved.
    """
    if findings:
        return "violated"
    if not complete or not functions:
        return "unknown"
    verdicts = [verdict for function in functions for verdict in function.verdicts.values()]
    counting = [verdict for verdict in verdicts if not (verdict.unreached or verdict.no_place)]
    settled = not any(f.stale for f in functions) and all(verdict.verdict != "unknown" for verdict in counting)
    return "safe" if settled and any(verdict.verdict == "safe" for verdict in verdicts) else "unknown"
