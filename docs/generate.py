"""Writes the pages of the shipped rules from the rule files: docs/rules/*.md, and for editors analysis/rules/pages/*.md; and
docs/assumptions.md from the table of assumptions: `python docs/generate.py [--check]`.

With --check nothing is written; the exit status is 1 and the pages are named if any is not as it should be.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from analysis.model.assumptions import TABLE
from analysis.rules.load import shipped_rules

PAGES = Path(__file__).resolve().parent / "rules"
CARRIED = PAGES.parents[1] / "analysis" / "rules" / "pages"
ASSUMPTIONS = PAGES.parent / "assumptions.md"
_LINK = re.compile(r"\[([^\]]*)\]\((?!https:)[^)]*\)")


_DEFAULTS = """\
What the automaton engine looks for is found while you type; provers then try to confirm or refute it. What only provers look
for is reported where it was seen in a run of the program, and the run is its trace; `safe` is what they have proved.

Off by default is what many programs do on purpose: memory and locks that are left to the system when the program ends,
and overflow that wraps. `--rule NAME`, `--rule all` and the setting `rules` ask for rules.
"""


def main() -> int:
    """Writes or checks the pages."""
    parser = argparse.ArgumentParser(description="Write the pages of the shipped rules.")
    parser.add_argument("--check", action="store_true", help="only say which pages are out of date")
    check = parser.parse_args().check
    outdated = [name for folder, wanted in ((PAGES, pages()), (CARRIED, carried())) for name in _outdated(folder, wanted, check)]
    is_new = not ASSUMPTIONS.exists() or ASSUMPTIONS.read_text(encoding="utf-8") != assumptions()
    if check:
        for name in [*outdated, *([f"docs/{ASSUMPTIONS.name}"] * is_new)]:
            print(f"{name} is out of date: run `make docs`")
        return 1 if outdated or is_new else 0
    ASSUMPTIONS.write_text(assumptions(), encoding="utf-8")
    return 0


def _outdated(folder: Path, wanted: dict[str, str], check: bool) -> list[str]:
    """The pages of a folder that are not as wanted, by their paths. If it is not only to be checked, they are written."""
    present = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    names = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    for name in () if check else names:
        folder.mkdir(exist_ok=True)
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return [str((folder / name).relative_to(PAGES.parents[1])) for name in names]


def carried() -> dict[str, str]:
    """The pages that editors show, wherever Everproof is installed: without links into these docs."""
    return {name: _LINK.sub(r"\1", text) for name, text in pages().items() if name != "README.md"}


def pages() -> dict[str, str]:
    """The text of each page by its file name: one a rule, and README.md with all of them."""
    rules = sorted(shipped_rules(), key=lambda rule: rule.name)
    rows = [
        f"| [{rule.name}]({rule.name}.md) | {rule.severity} | {f'CWE-{rule.cwe}' if rule.cwe else ''} | {rule.summary} "
        f"| {'provers' if rule.provers_only else 'automaton'} | {'' if rule.default else 'off'} |"
        for rule in rules
    ]
    head = "| rule | severity | weakness | finds | looked for by | by default |"
    index = ["# Rules", "", head, "|---|---|---|---|---|---|", *rows, "", *_DEFAULTS.splitlines(), ""]
    index += ["Generated from `analysis/rules/shipped/*.yaml` by `make docs`.", ""]
    return {f"{rule.name}.md": rule.markdown().rstrip() + "\n" for rule in rules} | {"README.md": "\n".join(index)}


_KINDS = {
    "modelled": "modelled: nothing is assumed",
    "ends-run": "a run ends there; rules that are on by default report it",
    "checked": "checked with the property; where it may not hold, the answer is `unknown` with this reason",
    "listed": "assumed, and listed by each answer that rests on it",
}


def _linked(rule: str) -> str:
    return f"[{rule}](rules/{rule}.md)" if rule in {shipped.name for shipped in shipped_rules()} else rule


def assumptions() -> str:
    """Returns the page of the assumptions of answers."""
    rows = [f"| {row.sentence} | {_KINDS[row.kind]} | {', '.join(map(_linked, row.rules))} | {row.users} |" for row in TABLE]
    lines = ["# Assumptions", ""]
    lines += [
        "No answer rests on an assumption that is not reported. This is the whole list. The column *treatment* says what is"
    ]
    lines += [
        "done: the analysis covers the case; a run ends there, and rules report it; the case is checked with the property; or"
    ]
    lines += ["it is assumed, and each answer that needs it lists it. *Used by* names the parts of the verifier that rest on it,"]
    lines += ["in words of the [architecture](../analysis/ARCHITECTURE.md); users need not know them.", ""]
    lines += ["| assumption | treatment | rules that report a violation | used by |", "|---|---|---|---|", *rows, ""]
    return "\n".join([*lines, "Generated from `analysis/model/assumptions.py` by `make docs`.", ""])


if __name__ == "__main__":
    sys.exit(main())
