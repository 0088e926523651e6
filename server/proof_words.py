"""What is said of proofs over edits, the same in the status, lenses and hovers: which are being checked again, what a proof took
from the last one, and what broke.
"""

from __future__ import annotations

from analysis.model.report import UNPARSED, FunctionReport, RuleVerdict
from analysis.model.spelling import display_name
from server.convert import here

RECHECKED = "proved, being re-checked"
_WAITING = "proved, re-checked once all of the program parses"
BROKEN = "no longer proved"


def rechecked(function: FunctionReport) -> list[str]:
    """The rules that were proved before the last edits, and are being checked again, or are to be."""
    return sorted(rule for rule, verdict in function.verdicts.items() if verdict.rechecked)


def waits(function: FunctionReport) -> bool:
    """Whether these are checked again only once all of the program parses."""
    return any(verdict.rechecked and verdict.reason == UNPARSED for verdict in function.verdicts.values())


def recheck_words(function: FunctionReport) -> str:
    """What is said of these rules."""
    return _WAITING if waits(function) else RECHECKED


def reused_text(verdict: RuleVerdict) -> str:
    """What a proof took from that of an earlier text; empty if it took nothing."""
    reused = verdict.reused
    if reused is None:
        return ""
    if reused.of:
        return f"found in {verdict.ms:.0f} ms, starting from the proof of `{display_name(reused.of)}`"
    if not reused.asserted:
        return f"the last proof still holds; checked in {verdict.ms:.0f} ms"
    found = reused.asserted - reused.valid
    parts = "" if not found or not reused.lemmas else "1 part" if reused.lemmas == 1 else f"{reused.lemmas} parts"
    if reused.asserted == 1:
        kept = f"the assertion of the last proof {'no longer' if found else 'still'} holds"
        kept += f", but {parts} of it {'does' if reused.lemmas == 1 else 'do'}" if parts else ""
        return kept + (f"; another one was found in {verdict.ms:.0f} ms" if found else f"; checked in {verdict.ms:.0f} ms")
    kept = f"{reused.valid} of {reused.asserted} assertions of the last proof still hold"
    kept += f", and {parts} of the others" if parts else ""
    return kept + (f"; {found} found again in {verdict.ms:.0f} ms" if found > 0 else f"; checked in {verdict.ms:.0f} ms")


def broken(function: FunctionReport) -> dict[str, str]:
    """The rules that are not proved any more, with what broke, beside the function."""
    return {
        rule: f"{BROKEN}: {here(verdict.broken, function)}"
        for rule, verdict in sorted(function.verdicts.items())
        if verdict.broken and verdict.verdict == "unknown"
    }


def reuse_texts(function: FunctionReport) -> dict[str, str]:
    """What the proofs of each rule took from earlier ones."""
    return {rule: text for rule, verdict in sorted(function.verdicts.items()) if (text := reused_text(verdict))}
