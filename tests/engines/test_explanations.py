"""Which steps of a trace explain a finding: programs with a mark beside each line that is a step, and beside no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Finding
from analysis.path_following.explanation import MOST, shortened

PROGRAMS = {
    "the branch that a failure is about, and what its variables are": """\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
static int twice(int x)
{
    return x + x;  // step
}
int main(void)  // step
{
    int x = __VERIFIER_nondet_int();  // step
    int other = 5, sum;
    if (x < 0 || x > 10)
        return 0;
    sum = twice(x);  // step
    if (other == 5)
        other = x;
    if (sum == 14  // step
        && x > 2)  // step
        reach_error();  // step
    return other;
}
""",
    "tests for bad input, and a loop, explain nothing": """\
#include <stdlib.h>
#include <string.h>
struct item { struct item *next; char *name; int count; };
struct item *stock;
static struct item *find(const char *name)
{
    struct item *at;
    for (at = stock; at; at = at->next)  // step
        if (strcmp(at->name, name) == 0)
            return at;
    return NULL;  // step
}
int price(const char *name, int count, int limit)
{
    struct item *item;
    if (count < 0)
        return -1;
    if (limit > 100)
        count = 3;
    item = find(name);  // step
    if (count > limit)
        return -2;
    return item->count;  // step
}
int main(int argc, char **argv)
{
    int sum = 0;
    if (argc < 3)
        return 1;
    for (int number = 0; number < argc; number++)
        sum += number;
    return price(argv[1], argc, sum);  // step
}
""",
    "the branch that keeps a value": """\
int get(int which, int *given)  // step
{
    int *place = 0;  // step
    if (which > 3)  // step
        place = given;
    if (given)
        which = 2;
    return *place;  // step
}
""",
    "the branch that leads to the error, when it is not only left over": """\
#include <stdio.h>
int save(const char *path, int quick)  // step
{
    FILE *file = fopen(path, "w");  // step
    if (!file)
        return -1;
    if (quick)  // step
        return 0;  // step
    fclose(file);
    return 1;
}
""",
    "a constant that decides": """\
#include <stdio.h>
void fill(const char *path, int wanted)  // step
{
    int kept = 1;
    FILE *file = fopen(path, "r");  // step
    if (!file)
        return;
    if (wanted)  // step
        kept = 0;  // step
    if (kept)  // step
        fclose(file);
    wanted = 0;
}  // step
""",
    "what the library writes to the address that it is passed": """\
#include <stdio.h>
#include <string.h>
extern void reach_error(void);
void look(const char *given)  // step
{
    char copy[40], other[40];
    int part = 4, unused;
    strncpy(copy, given, sizeof copy - 1);  // step
    strncpy(other, given, sizeof other - 1);
    sscanf(other, "%d", &unused);
    sscanf(copy, "%d", &part);  // step
    if (strcmp(other, "x") == 0)
        unused++;
    if (part == 7)  // step
        reach_error();  // step
    printf("%d", unused);
}
""",
    "of a switch the last test": """\
int pick(int what, int *given)  // step
{
    int *place = 0;  // step
    switch (what) {
    case 1: place = given; break;
    case 2: place = given; break;
    case 3: place = given; break;  // step
    }
    return *place;  // step
}
""",
}


def finding_of(path: Path, text: str) -> Finding:
    path.write_text(text)
    checker = Checker(Options(show="all"))
    checker.open([str(path)])
    [finding] = checker.check().findings
    return finding


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps(name: str, tmp_path: Path) -> None:
    text = PROGRAMS[name]
    finding = finding_of(tmp_path / "a.c", text)
    lines = text.splitlines()
    expected = {number for number, line in enumerate(lines, 1) if line.endswith("// step")}
    assert {step.place.range.start.line for step in finding.explanation} == expected
    assert len(finding.explanation) <= MOST
    assert finding.explanation[-1].kind == "error"
    assert list(finding.explaining) == sorted(set(finding.explaining))


def test_a_trace_that_is_too_long_keeps_what_explains_its_end_wherever_that_is() -> None:
    trace = [(number, number in (2, 7, 99)) for number in range(100)]
    assert [number for number, _ in shortened(trace, 8)] == [0, 2, 7, 95, 96, 97, 98, 99]
    assert shortened(trace, 100) == trace
    assert [number for number, _ in shortened(trace, 2)] == [7, 99]
