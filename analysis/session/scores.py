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
    "library-result": "it is what a library function returned here",
    "library-search": "it is what a search by a library function returned; the code may know that there is something to find",
    "own-test": "the function itself tests the value, and goes on even if it is NULL or 0",
    "released-here": "the function itself frees, closes, locks or destroys it",
    "own-address": "the function itself takes the address",
    "null-constant": "the function itself sets it to NULL or 0; code in between may rule that out",
    "function-result": "another function returns it, but perhaps not in this call",
    "handed-out": "another function frees it, and then stores or returns the freed pointer for its caller",
    "allocated-elsewhere": "another function allocates or opens it, and returns it",
    "owned-member": "by all that the program does with it, an object owns it, and this is where it should be freed",
    "argument": "a caller passes it, and may know more about it",
    "passed-failure": "a caller passes the result of something that can fail; after a failure, it may not get here",
    "whatever-called": "runs of the function did this, whatever they were passed",
    "macro": "the test for NULL, or the NULL, is in a macro, which has other uses, too",
    "way-unknown": "it was not decided whether the program gets to the place that the value comes from: there are too many ways",
    "sum-wraps": "it happens only if an unsigned sum wraps to 0",
    "in-memory": "the value is read from memory, and it is not known what the program always keeps true of that memory",
    "stored-failure": "after a failure it was stored in memory, and it is read from there; a test in between may rule that out",
    "reachable": "it was stored where other code can reach it",
    "function-pointer": "there is a call through a pointer on the way, which is taken to reach every function that fits",
    "others-test": "most other calls of the function that it comes from test its result",
    "others-do-not": "most other calls of the function that it comes from do not test its result, either",
    "environment": "it depends on what a library function returns: on memory, files or input",
    "straight": "there is no branch between where it comes from and where it is used",
    "answered-before": "the same was asked before on the way here, and the answer was not NULL; only the program could change it",
    "found-before": "the same was searched for before on the way here, and found",
    "idle-test": "nothing depends on the test for NULL in this build; it may be left over from an assertion",
    "zero-asked": "it is NULL only if a size of 0 was asked for; code in between may rule that out, or use nothing in that case",
    "decided-inside": "no failure of memory, files or input makes it NULL or 0: data of the program do, and the code may know it",
    "asked-about": "on the way, a function was passed it, and the result was tested; that may have been a test for this",
    "asked-before": "a function was called with the same arguments before; its result may rule out the NULL",
    "unkept": "a function that stores it in other runs does not store it here, because of its data; the code may rule that out",
    "tested-before": "the same was tested before, with the other outcome; only a function called since then can have changed it",
    "loop-skipped": "the path skips a loop that would set or keep it; the code may know that the loop runs at least once",
    "null-compared": "a pointer in memory would have to be NULL, too: it equals one that is; nothing says that it can be",
    "reported": "when it is NULL or 0, a function is called that may report that and not return",
    "many-conditions": "many conditions must hold together on the way",
    "taken-for-failure": "the function that gives it answers with a number that it computes; the code takes it for a failure",
    "sometimes-given": "the function that allocates or opens it returns something else in other runs; the caller may know which",
    "tagged-owner": "the path tests of which kind the object is that would own it; objects of that kind may own nothing there",
    "never-used": "the function that loses the descriptor never uses it; it may only be there to take up a number",
    "at-the-end": "the program ends here, and the system releases what it holds",
    "result-asserted": "the assertion is about the result of a call",
    "own-result-asserted": "the assertion is about the result of a function of the program, which may rule this out",
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
