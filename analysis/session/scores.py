"""How much speaks for each finding, with reasons that people can read; and which findings are shown.

The score of a possible finding is a sum: a start, and points for each piece of evidence (`analysis.model.evidence`), at most 99.
A finding that was confirmed by a run has 100, whatever the evidence is. A finding is shown if its score is at least `LIKELY`.

The points are in `analysis.model.evidence`: an engine, too, chooses by them among findings of which one is reported.

A score is a function of the finding alone. So it needs no repair after an edit, and is the same as from scratch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from analysis.model.evidence import Evidence, points
from analysis.model.options import Show
from analysis.model.report import LIKELY, Finding

CONFIRMED = 100
_REASONS: Mapping[Evidence, str] = {
    "library-result": "a function of the library is called here, and its result is used so",
    "library-search": "a function of the library looks for something here; the code may know that it is there",
    "own-test": "the function itself tests the value, and goes on where it is NULL or 0",
    "released-here": "the function itself frees, closes, locks or destroys it",
    "null-constant": "the function itself sets it to NULL or 0; the code between may exclude that",
    "function-result": "it comes from another function, whose result may be restricted for this call",
    "allocated-elsewhere": "it comes from another function, which allocates or opens it",
    "argument": "a caller passes it, and may know more of it",
    "passed-failure": "a caller passes what it got; where it failed, it may not come here",
    "whatever-called": "runs of the function did this, whatever they were passed",
    "macro": "the test for NULL, or the NULL, is that of a macro, which serves other uses, too",
    "way-unknown": "whether the program gets to where the value comes from was not decided: there are too many ways",
    "sum-wraps": "it needs that an unsigned sum that is passed to a function wraps to 0",
    "in-memory": "the value is read from memory, and what the program keeps true of that memory is not known",
    "stored-failure": "it was stored in memory where it failed, and is read from there; a test before may exclude that",
    "reachable": "it was stored where others reach it",
    "function-pointer": "a call through a pointer lies between, and is taken to reach each function that fits",
    "others-test": "most other calls of the function that it comes from test its result",
    "others-do-not": "most other calls of the function that it comes from do not test its result, either",
    "environment": "what a function of the library answers decides it: memory, files or input",
    "straight": "no branch lies between where it comes from and where it is used",
    "found-before": "on the way here, the same was looked for before, and found",
    "idle-test": "nothing depends on the test for NULL in this build; it may be left over from an assertion",
    "zero-asked": "it is NULL only where a size of 0 was asked for; the code between may exclude that, or use nothing then",
    "decided-inside": "no failure of memory, files or input makes it NULL or 0: the program decides that, and may know it here",
    "asked-about": "a function was passed it on the way, and its answer tested; it may have looked",
    "asked-before": "another function was asked about the same arguments before; its answer may exclude the NULL",
    "unkept": "a function that keeps it in other runs does not keep it here, because of what it holds; the code may exclude that",
    "tested-before": "the same was tested before with the other outcome; only a function called since then can have changed it",
    "loop-skipped": "a loop that would set it is passed without a turn; the code may know that there is one",
    "reported": "where it is NULL or 0, a function is called that may report that and not come back",
    "many-conditions": "many conditions must hold together on the way",
    "never-used": "the function that loses the descriptor uses it for nothing; it may be there to take a number",
    "at-the-end": "the program ends here, and the system takes back what it holds",
    "result-asserted": "the assertion is about the result of a call",
    "argument-asserted": "the assertion is about what callers pass",
    "never-asserted": "the assertion says that this place is never reached",
}
_CONFIRMED = "a run of the program did this"


def scored(findings: Iterable[Finding], show: Show) -> tuple[Finding, ...]:
    """The findings with their scores and reasons, and whether they are shown."""
    return tuple(_scored(finding, show) for finding in findings)


def _scored(finding: Finding, show: Show) -> Finding:
    is_confirmed = finding.status == "confirmed"
    score = CONFIRMED if is_confirmed else points(finding.evidence)
    reasons = (_CONFIRMED,) if is_confirmed else tuple(_REASONS[one] for one in finding.evidence)
    shown = score >= LIKELY or show == "all"
    if (finding.score, finding.reasons, finding.shown) == (score, reasons, shown):
        return finding
    return msgspec.structs.replace(finding, score=score, reasons=reasons, shown=shown)
