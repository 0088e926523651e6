"""The steps that explain what a run shows are about the operand that is wrong: programs with a mark beside each line that is a
step.

The class: a statement reads more than the pointer that is null or the divisor that is 0, and how the rest came to be crowds out
what matters.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli.main import main

HASH = """\
static unsigned long hash(const char *s)
{
    unsigned long h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h;
}
"""
PROGRAMS = {
    "division-by-zero: a divisor that is a member of an object": """\
#include <stdlib.h>
struct table { unsigned long n; };
"""
    + HASH
    + """\
static struct table *new(unsigned long n)
{
    struct table *t = malloc(sizeof *t);  // step
    if (!t)
        exit(1);
    t->n = n;  // step
    return t;  // step
}
int main(void)  // step
{
    struct table other, *t = new(0);  // step
    other.n = 3;
    return hash("long enough that it crowds out all else") % other.n % t->n;  // step
}
""",
    "null-dereference: a pointer beside a computation": """\
#include <stddef.h>
struct table { unsigned long n; };
"""
    + HASH
    + """\
static struct table *found(void)
{
    return NULL;  // step
}
int main(void)  // step
{
    struct table *t = found();  // step
    return hash("long enough that it crowds out all else") % t->n;  // step
}
""",
    "double-free: another name of the block": """\
#include <stdlib.h>
int main(void)  // step
{
    char *a, *b;
    a = malloc(10);  // step
    b = a;  // step
    free(a);  // step
    free(b);  // step
    return 0;
}
""",
    "memory-leak: where it is lost, not what is returned there": """\
#include <stdlib.h>
"""
    + HASH
    + """\
int main(void)  // step
{
    int *kept = malloc(4);  // step
    return hash("long enough that it crowds out all else") % 7;  // step
}
""",
}


@pytest.mark.full_budget
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_of_a_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, rule = PROGRAMS[name], name.partition(":")[0]
    (tmp_path / "a.c").write_text(text)
    assert main(["check", "--store", "none", "--format", "json", str(tmp_path / "a.c")]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    [finding] = [one for one in found if (one["rule"], one["status"]) == (rule, "confirmed")]
    steps = [finding["trace"][number] for number in finding["explaining"]]
    expected = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("// step")}
    assert {step["range"]["start"]["line"] for step in steps} == expected
