"""Writes the pages of the shipped rules, docs/rules/*.md, from the rule files: `python docs/generate.py [--check]`.

With --check nothing is written; the exit status is 1 and the pages are named if any is not as it should be.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.rules.load import shipped_rules

PAGES = Path(__file__).resolve().parent / "rules"


def main() -> int:
    """Writes or checks the pages."""
    parser = argparse.ArgumentParser(description="Write the pages of the shipped rules.")
    parser.add_argument("--check", action="store_true", help="only say which pages are out of date")
    check = parser.parse_args().check
    wanted = pages()
    present = {path.name: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}
    outdated = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if check:
        for name in outdated:
            print(f"docs/rules/{name} is out of date: run `make docs`")
        return 1 if outdated else 0
    PAGES.mkdir(exist_ok=True)
    for name in outdated:
        if name in wanted:
            (PAGES / name).write_text(wanted[name], encoding="utf-8")
        else:
            (PAGES / name).unlink()
    return 0


def pages() -> dict[str, str]:
    """The text of each page by its file name: one a rule, and README.md with all of them."""
    rules = sorted(shipped_rules(), key=lambda rule: rule.name)
    rows = [
        f"| [{rule.name}]({rule.name}.md) | {rule.severity} | {f'CWE-{rule.cwe}' if rule.cwe else ''} | {rule.summary} |"
        for rule in rules
    ]
    index = ["# Rules", "", "| rule | severity | weakness | finds |", "|---|---|---|---|", *rows, ""]
    index += ["Generated from `analysis/rules/shipped/*.yaml` by `make docs`.", ""]
    return {f"{rule.name}.md": rule.markdown().rstrip() + "\n" for rule in rules} | {"README.md": "\n".join(index)}


if __name__ == "__main__":
    sys.exit(main())
