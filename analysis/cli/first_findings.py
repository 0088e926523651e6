"""What may be wrong, for somebody at a terminal who would otherwise see nothing while provers run."""

from __future__ import annotations

import sys

from analysis.cli.command_options import Asked
from analysis.cli.text_format import spot
from analysis.model.report import Report


def say_first(report: Report, asked: Asked) -> None:
    """Writes a line for each finding that would be shown, before provers decide it, to standard error. Only where a person reads
    the text: what programs read stays as it is, and so does a report that is piped, or written to a file."""
    reads = asked.format == "text" and asked.output is None and asked.baseline is None
    found = asked.presented(report).shown
    if not (reads and found and sys.stdout.isatty() and sys.stderr.isatty()):
        return
    lines = [f"{spot(one.place)}: {one.severity}: possible: {one.said} [{one.rule}]" for one in found]
    text = "\n".join(["Possible so far; provers are asked:", *lines, ""])
    sys.stderr.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
    sys.stderr.flush()
