"""Comments that silence a finding: `// everproof: ignore RULE reason`, on its line or the line before it.

A reason is required: without one the comment has no effect and a message says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

import msgspec

from analysis.model.report import Finding, Message

_MARK = b"everproof:"
_COMMENT = re.compile(
    r"""(?P<literal>"(?:[^"\\\n]++|\\.)*+(?>(?P<closed>")?)|'(?:[^'\\\n]++|\\.)*+(?>(?P<ended>')?))
      | //[ \t]*+everproof:[ \t]*+ignore\b[ \t]*+(?P<line>[^\n]*+)
      | /\*[ \t]*+everproof:[ \t]*+ignore\b[ \t]*+(?P<block>(?>(?:[^*\n]++|\*(?!/))*))(?>(?P<end>\*/)?)""",
    re.VERBOSE,
)


class Suppression(msgspec.Struct, frozen=True):
    """One comment that counts: it silences findings of `rule` on its own line and the next."""

    line: int
    rule: str
    reason: str


class Suppressions(msgspec.Struct, frozen=True):
    """The suppression comments of one file."""

    valid: tuple[Suppression, ...] = ()
    messages: tuple[Message, ...] = ()

    def covers(self, finding: Finding) -> Suppression | None:
        """The comment that silences the finding, if there is one."""
        lines = (finding.place.range.start.line, finding.place.range.start.line - 1)
        return next((s for s in self.valid if s.rule == finding.rule and s.line in lines), None)


NONE = Suppressions()


def read_suppressions(path: str, data: bytes, rules: Collection[str]) -> Suppressions:
    """The suppression comments in a file's bytes; `rules` are the names of all rules there are, to catch misspelt ones."""
    if _MARK not in data:
        return NONE
    valid: list[Suppression] = []
    messages: list[Message] = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if "everproof:" not in line:
            continue
        for words in _comments(line):
            rule, _, reason = words.strip().partition(" ")
            problem = _problem(rule, reason.strip(), rules)
            if problem is None:
                valid.append(Suppression(number, rule, reason.strip()))
            else:
                unreasoned = rule if rule in rules and not reason.strip() else ""
                messages.append(Message("warning", path, problem, number, unreasoned=unreasoned))
    return Suppressions(tuple(valid), tuple(messages))


def _comments(line: str) -> Iterator[str]:
    """What the suppression comments of a line say."""
    looked_at, position = line, 0
    while (match := _COMMENT.search(looked_at, position)) is not None:
        position = match.end()
        if match["literal"] and not match["closed"] and not match["ended"]:  # an apostrophe: what is behind it counts
            position = match.start() + 1
            looked_at = looked_at[:position] + looked_at[position:].replace(match["literal"][0], " ")  # none of those ends it
        elif match["line"] is not None:
            yield line[match.start("line") : match.end("line")]
        elif match["end"]:
            yield line[match.start("block") : match.end("block")]


def _problem(rule: str, reason: str, rules: Collection[str]) -> str | None:
    if not rule:
        return "This comment suppresses nothing: write `// everproof: ignore RULE reason`."
    if rules and rule not in rules:
        return f"This comment suppresses nothing: there is no rule {rule} (see `everproof rules`)."
    if not reason:
        return f"This comment suppresses nothing: give a reason after {rule} why the finding should not be reported."
    return None


def split(findings: tuple[Finding, ...], comments: Mapping[str, Suppressions]) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """The findings to report, and those that a comment silences, each with the comment's reason."""
    kept: list[Finding] = []
    silenced: list[tuple[Finding, str]] = []
    for finding in findings:
        comment = comments.get(finding.place.path, NONE).covers(finding)
        if comment is None:
            kept.append(finding)
        else:
            silenced.append((finding, comment.reason))
    return kept, silenced
