"""A run that violates a rule where a call stores its result confirms the finding there, and no other one is reported.

The class: `p->n = f(x)`, where `p` is null. The store comes after the function has returned, but it is the caller's."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

_TEXT = """struct item { int n; };
static int twice(int x) { return 2 * x; }
int main(void)
{
    struct item *item = 0;
    item->n = TWICE;
    return 0;
}
"""


@pytest.mark.parametrize("call", ["twice(3)", "twice(twice(3))"])
def test_the_finding_at_the_call_is_confirmed(call: str, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(_TEXT.replace("TWICE", call))
    checker = Checker(Options(proofs=True, everywhere=True, rules=("null-dereference",)), jobs=1)
    checker.open([str(file)])
    checker.check()
    findings = checker.prove().findings
    checker.close()
    assert [(finding.status, finding.function, finding.place.range.start.line) for finding in findings] == [
        ("confirmed", "main", 6)
    ]
