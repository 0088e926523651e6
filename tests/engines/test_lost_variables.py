"""What is lost in one function by two variables is two findings; by one variable at two places it is one."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options

_TEXT = """#include <stdlib.h>
int two(int n)
{
    char *p = malloc(4), *q = malloc(5);
    if (!p || !q)
        abort();
    if (n > 1)
        return 1;
    return 0;
}
"""


def test_findings_by_variable(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(_TEXT, encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    findings = checker.check().findings
    assert [finding.place.range.start.line for finding in findings] == [8, 8]
    assert len({finding.fingerprint for finding in findings}) == 2


def test_one_finding_for_each_value(tmp_path: Path) -> None:
    """A value with two variables is lost once; two values that one function makes are lost twice."""
    text = (
        "#include <stdlib.h>\n#include <string.h>\nstatic char *make(int n) { char *p = malloc(n); if (!p) abort(); return p; }\n"
        "void one(int n)\n{\n    char *p, *q;\n    p = q = make(n);\n    if (n > 3)\n        *q++ = 1;\n    *q = 0;\n}\n"
        "int two(int n)\n{\n    char *p = make(n), *q = make(n);\n    return p[0] + q[0];\n}\n"
    )
    path = tmp_path / "a.c"
    path.write_text(text, encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    assert [finding.function for finding in checker.check().findings] == ["one", "two", "two"]
