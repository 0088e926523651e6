"""Which candidates mend a finding: the program is checked with each of them.

A candidate is kept if the finding is gone, no finding has come, the file parses as before, no function lost its verdicts,
and there is no
new message. If provers found the finding, they are asked again, else only the automaton engine is: what only provers
find is not looked for then.
"""

from __future__ import annotations

from collections import Counter

from analysis.api import Checker
from analysis.fixes.asked_finding import Candidate
from analysis.fixes.kinds import families
from analysis.fixes.source_text import SourceText
from analysis.model.places import Range
from analysis.model.report import Finding, Report
from analysis.model.text_changes import FIXABLE, Fix, TextChange, changed, position_of

MOST_CHECKED = 12
"""So many candidates are checked for a finding."""
MOST_OFFERED = 3


def confirmed_fixes(checker: Checker, path: str, text: str, fingerprint: str) -> tuple[Fix, ...]:
    """Fixes of a finding in the file at `path`, which holds `text`, in the program that a checker has open. The checker's
    program has another text afterwards."""
    before = checker.check()
    finding = _find(before, path, fingerprint)
    proves = finding is None and checker.options.engine != "automaton"
    if proves:
        before = checker.prove(stays=True)
        finding = _find(before, path, fingerprint)
    if finding is None or finding.rule not in FIXABLE:
        return ()
    source = SourceText(text)
    found: list[Fix] = []
    left = MOST_CHECKED
    for family in families(source, finding):
        for candidate in family[:left]:
            left -= 1
            checker.change(path, changed(source.data, candidate[1]).decode("utf-8", "surrogatepass"))
            after = checker.check()
            if is_mended(before, after, finding) and proves:
                after = checker.prove(stays=True)
            if is_mended(before, after, finding):
                found.append(_fix(source, path, candidate))
                break
        if len(found) == MOST_OFFERED:
            break
    return tuple(found)


def is_mended(before: Report, after: Report, finding: Finding) -> bool:
    """Whether a finding is gone, and nothing else is worse than before."""
    earlier, later = (Counter(one.fingerprint for one in report.findings) for report in (before, after))
    earlier[finding.fingerprint] -= 1
    is_worse = any(count > earlier[fingerprint] for fingerprint, count in later.items())
    messages = {(one.path, one.text) for one in before.messages}
    says_more = any((one.path, one.text) not in messages for one in after.messages)
    errors = {file.path: file.parse_errors for file in before.files}
    parses = all(file.parse_errors <= errors.get(file.path, 0) for file in after.files)
    names = [[(one.name, one.stale) for one in report.functions] for report in (before, after)]
    return not is_worse and not says_more and parses and names[0] == names[1] and after.suppressed == before.suppressed


def _find(report: Report, path: str, fingerprint: str) -> Finding | None:
    return next((one for one in report.findings if one.fingerprint == fingerprint and one.place.path == path), None)


def _fix(source: SourceText, path: str, candidate: Candidate) -> Fix:
    title, changes = candidate
    ranges = (
        (Range(position_of(source.data, one.start), position_of(source.data, one.end)), one.text) for one in sorted(changes)
    )
    return Fix(title, path, tuple(TextChange(*one) for one in ranges))
