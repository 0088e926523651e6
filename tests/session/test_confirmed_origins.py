"""What a confirmed finding says of where its value comes from is true of the run that it shows.

The class: a path that is possible gives a pointer NULL at one step, and the run that reaches the same place at another."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Finding

PAIRS = """
#include <stdlib.h>
struct pair { struct pair *left, *right; };

static struct pair *pair(struct pair *left, struct pair *right)
{
    struct pair *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    made->left = left;
    made->right = right;
    return made;
}

static struct pair *leaf(int key)
{
    LEAF
    return pair(NULL, NULL);
}

static int depth(const struct pair *one)
{
    return one->left ? 1 + depth(one->left) + depth(one->right) : 0;
}

int main(int argc, char **argv)
{
    struct pair *both, *left = leaf(1);
    if (!left)
        return 1;
    both = pair(left, leaf(argc - 1));
    return both ? depth(both) : 1;
}
"""

LIST = """
#include <stdlib.h>
struct item { struct item *next; int key; };

static struct item *put(struct item *item, int key)
{
    if (!item) {
        item = calloc(1, sizeof *item);
        if (item)
            item->key = key;
        return item;
    }
    item->next = put(item->next, key);
    return item;
}

static int last(const struct item *item)
{
    while (item->next)
        item = item->next;
    return item->key;
}

int main(int argc, char **argv)
{
    struct item *first = NULL;
    for (int i = 1; i < argc; i++)
        first = put(first, argv[i][0]);
    return last(first);
}
"""


def confirmed(folder: Path, text: str) -> Finding:
    (folder / "a.c").write_text(text)
    checker = Checker(Options(proofs=True, rules=("null-dereference",)), jobs=1)
    checker.open([str(folder / "a.c")])
    checker.check()
    report = checker.prove()
    checker.close()
    [finding] = report.findings
    assert finding.status == "confirmed"
    return finding


def test_a_null_pointer_of_another_origin_is_not_ascribed_to_an_allocation_that_succeeds(tmp_path: Path) -> None:
    finding = confirmed(tmp_path, PAIRS.replace("LEAF", "if (key == 0) return NULL;"))
    allocated = [step.values["made"] for step in finding.trace if step.text == "made = malloc(sizeof *made)"]
    assert allocated
    assert "NULL" not in allocated
    assert finding.since == ""


def test_the_allocation_is_named_where_its_failure_is_what_the_run_shows(tmp_path: Path) -> None:
    finding = confirmed(tmp_path, PAIRS.replace("LEAF", ""))
    assert "NULL" in [step.values["made"] for step in finding.trace if step.text == "made = malloc(sizeof *made)"]
    assert finding.since == "`made = malloc(sizeof *made)` in pair"


def test_a_step_that_the_run_does_not_make_is_not_named(tmp_path: Path) -> None:
    """The run passes no argument, so nothing is allocated."""
    finding = confirmed(tmp_path, LIST)
    assert not any("calloc" in step.text for step in finding.trace)
    assert "calloc" not in finding.since


def test_null_that_is_passed_is_named(tmp_path: Path) -> None:
    text = "static int get(const int *p) { return *p; }\nint main(int argc, char **argv) { return get(argc == 3 ? 0 : &argc); }\n"
    assert confirmed(tmp_path, text).since == "`NULL` in main"
