"""What README.md says in numbers about rules is so."""

import re
from pathlib import Path

from analysis.rules.load import shipped_rules

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")


def test_the_number_of_rules():
    pattern = r"(\d+) \[rules\][^:]*: (\d+) that the automaton engine looks for.*?(\d+) that only provers look for"
    said = re.search(pattern, README, re.DOTALL)
    assert said is not None
    rules = shipped_rules()
    by_provers = sum(rule.provers_only for rule in rules)
    assert [int(number) for number in said.groups()] == [len(rules), len(rules) - by_provers, by_provers]


def test_how_many_rules_are_looked_for_by_default():
    by_default = sum(rule.default for rule in shipped_rules())
    assert f"{by_default} of them are looked for unless you ask for others" in README
    assert f"Of the {len(shipped_rules())} [rules](rules/README.md), {by_default} are looked for unless" in GUIDE
    assert f"checked against {by_default} rules" in GUIDE
