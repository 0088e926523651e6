"""A run that is about a block of memory, or an open file: its explanation has where that is made, released and lost, and it is no
finding of its own where the loss is one already."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model import ir
from analysis.model.options import Options
from analysis.session.provers.asking.answer import Decided, Ran
from analysis.session.provers.block_steps import block_steps, repeats
from tests.support.runs import program_of

LIST = """
struct n { struct n *next; }; struct list { struct n *first; };
void cut(struct list *l) { struct n *c = l->first; use(c); free(c); use(0); }
void add(struct list *l) { l->first = malloc(8); l->first = realloc(l->first, 16); }
"""
PROGRAM = program_of(LIST)


def step(function: str, number: int, **values: str) -> Ran:
    """The call with this number in a function, or its assignment with number -1."""
    edges = PROGRAM.functions[function].edges
    kind = ir.Assign if number < 0 else ir.Call
    edge = [edge.id for edge in edges if isinstance(edge.effect, kind)][max(number, 0)]
    return Ran(function, edge, 1, {name.replace("_", "->"): value for name, value in values.items()})


RUN = (
    step("add", 0, l_first="heap block 2 (8 bytes)"),
    step("cut", -1, c="heap block 2 (8 bytes)"),
    step("cut", 0, c="heap block 2 (8 bytes)"),
    step("cut", 1, c="heap block 2 (8 bytes)"),
    step("cut", 2, c="heap block 2 (8 bytes), freed"),
)


def test_a_use_after_free_is_explained_by_the_calls_that_make_and_free_the_block() -> None:
    assert block_steps("read of 8 bytes of heap block 2 (8 bytes), which is freed", RUN, PROGRAM) == {0, 3}


def test_another_block_whose_number_begins_alike_is_another_one() -> None:
    assert block_steps("read of 8 bytes of heap block 22 (8 bytes), which is freed", RUN, PROGRAM) == frozenset()
    assert block_steps("read through a null pointer", RUN, PROGRAM) == frozenset()


def test_a_leak_is_explained_by_what_gives_the_last_pointer_another_value() -> None:
    lost = (*RUN[:2], step("add", 1, l_first="NULL"), step("cut", 0, x="NULL"))
    assert block_steps("nothing points to heap block 2 (8 bytes) any more", lost, PROGRAM) == {0, 2}
    assert block_steps("write of 1 byte at offset 9 of heap block 2 (8 bytes)", lost, PROGRAM) == {0}


def test_a_run_repeats_a_loss_only_if_it_comes_from_the_same_call_and_passes_where_the_other_one_ends() -> None:
    observed, other = "nothing points to heap block 2 (8 bytes) any more", "nothing points to heap block 1 (8 bytes) any more"
    known = Decided("confirmed", observed=other, steps=(step("add", 0, l_first="heap block 1 (8 bytes)"), step("cut", 1)))
    run = Decided("confirmed", observed=observed, steps=RUN)
    assert repeats(run, known, PROGRAM)
    assert not repeats(Decided("confirmed", observed=observed, steps=RUN[:3]), known, PROGRAM)
    resized = (step("add", 1, l_first="heap block 2 (8 bytes)"), *RUN[1:])
    assert not repeats(Decided("confirmed", observed=observed, steps=resized), known, PROGRAM)
    assert not repeats(Decided("confirmed", observed="heap block 2 (8 bytes) is freed already", steps=RUN), known, PROGRAM)


LEFT_OPEN = """
#include <stdio.h>
static int copy(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"), *out;
    if (!in)
        return 1;
    out = fopen(to, "w");
    if (!out)
        return 2;
    fclose(in);
    fclose(out);
    return 0;
}
int main(int argc, char **argv)
{
    if (argc != 3)
        return 3;
    if (copy(argv[1], argv[2]))
        return 4;
    return 0;
}
"""


def shown(folder: Path, text: str, rule: str) -> list[tuple[str, str, int]]:
    """The function, status and line of each finding of a program."""
    file = folder / "a.c"
    file.write_text(text)
    checker = Checker(Options(proofs=True, everywhere=True, rules=(rule,)), jobs=1)
    checker.open([str(file)])
    checker.check()
    report = checker.prove()
    checker.close()
    return [(one.function, one.status, one.place.range.start.line) for one in report.findings]


def test_one_file_that_stays_open_is_one_finding(tmp_path: Path) -> None:
    assert shown(tmp_path, LEFT_OPEN, "resource-leak") == [("copy", "confirmed", 10)]


FREED_BY_A_CALLEE = """
#include <stdlib.h>
struct session { char *user; };
static void reset(struct session *s)
{
    free(s->user);
}
int main(int argc, char **argv)
{
    struct session s = {0};
    s.user = malloc(8);
    if (argc > 1)
        reset(&s);
    reset(&s);
    return 0;
}
"""


def test_a_finding_at_a_call_that_a_run_confirms_in_the_callee_is_one_finding(tmp_path: Path) -> None:
    assert shown(tmp_path, FREED_BY_A_CALLEE, "double-free") == [("main", "confirmed", 14)]
