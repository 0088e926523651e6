"""What README.md says in numbers about rules is so."""

import re
from pathlib import Path

from analysis.rules.load import shipped_rules

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_number_of_rules():
    pattern = r"(\d+) \[rules\][^:]*: (\d+) that the automaton engine looks for.*?(\d+) that only provers look for"
    said = re.search(pattern, README, re.DOTALL)
    assert said is not None
    rules = shipped_rules()
    by_provers = sum(rule.provers_only for rule in rules)
    assert [int(number) for number in said.groups()] == [len(rules), len(rules) - by_provers, by_provers]
