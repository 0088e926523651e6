"""Writes what `benchmarks.evidence` has measured into the docs: `python -m benchmarks.evidence_pages [--check]`.

In a page, what stands between these two lines is generated from the record NAME:

    <!-- evidence: NAME -->
    <!-- end of evidence -->

With --check nothing is written; the exit status is 1, and the pages are named, if any differs from its records.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.evidence_records import RECORDS, ROOT, read_record

_GENERATED = re.compile(
    r"^<!-- evidence: (?P<name>[\w-]+) -->\n(?P<text>.*?)^<!-- end of evidence -->$", re.MULTILINE | re.DOTALL
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.evidence_pages", description="Write what was measured into the docs."
    )
    parser.add_argument("--check", action="store_true", help="only say which pages differ from what was measured")
    check = parser.parse_args(arguments).check
    status = 0
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted = with_records(text)
        if wanted != text and check:
            print(f"docs/{page.name} differs from benchmarks/results/evidence: run `make docs`")
            status = 1
        elif wanted != text:
            page.write_text(wanted, encoding="utf-8")
    return status


def with_records(text: str, folder: Path = RECORDS) -> str:
    """A page with what the records say. Raises ValueError if one is missing."""

    def generated(found: re.Match[str]) -> str:
        record = read_record(found["name"], folder)
        if record is None:
            raise ValueError(f"nothing was measured by the name {found['name']}")
        return f"<!-- evidence: {found['name']} -->\n{record.page()}<!-- end of evidence -->"

    return _GENERATED.sub(generated, text)


def without_generated(text: str) -> str:
    """A page without what is generated."""
    return _GENERATED.sub("", text)


if __name__ == "__main__":
    raise SystemExit(main())
