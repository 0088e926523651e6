"""Where a report goes: standard output or a file; messages go to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from analysis.cli.closing import NobodyReadsError, let_go
from analysis.cli.command_options import Asked
from analysis.cli.failure import Failure
from analysis.cli.json_format import encode_json, report_document
from analysis.cli.sarif_format import sarif_document
from analysis.cli.text_format import message_line, text_report
from analysis.model.report import Message, Report
from analysis.rules.automaton import Rule


def render(report: Report, asked: Asked, rules: Sequence[Rule], *, known: int, successful: bool) -> str:
    """The report in the format asked for; `known` findings were withheld by a baseline."""
    if asked.format == "json":
        return encode_json(report_document(report))
    if asked.format == "sarif":
        return encode_json(sarif_document(report, rules, successful))
    return text_report(report, stats=asked.stats, known=known)


def write(text: str, path: str | None) -> None:
    """Writes the text to the file, or to standard output; raises Failure when the file cannot be written."""
    if path is None:
        left = memoryview(text.encode("utf-8", "backslashreplace"))
        try:
            while left:  # Python says so, and nothing else, when only a part could be written: the next time it fails
                left = left[sys.stdout.buffer.write(left) :]
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise NobodyReadsError from None
        except OSError as error:
            let_go(1)  # of what is left in its buffer
            raise Failure(f"Standard output cannot be written: {error.strerror}.") from None
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}.") from None


def say(messages: Iterable[Message]) -> None:
    """Writes messages to standard error, each once."""
    try:
        for message in dict.fromkeys(messages):
            line = message_line(message)
            sys.stderr.write(line.encode("utf-8", "backslashreplace").decode() + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        raise NobodyReadsError from None
