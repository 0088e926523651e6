"""A check that is ended from outside leaves nothing half done: the next one says what one says that was not ended.

Each step of the search for paths is ended once, and the program checked again; in between, an edit takes a step that was known.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.engines.automaton.solver.full import FunctionGraph
from analysis.model import interruption
from analysis.model.interruption import Interrupted, Interruption, step_done
from analysis.model.options import Options
from analysis.model.report import Report

PROGRAM = """\
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static struct node *find(struct node *from, int value)
{
    while (from != NULL && from->value != value)
        from = from->next;
    return from;
}

static int get(struct node *list, int value)
{
    int times = 2;
    if (value > 3)
        return 0;
    return times * find(list, value)->value;
}

static void put(struct node *one)
{
    if (one->value == 0)
        free(one);
}

int main(int argc, char **argv)
{
    struct node *node = malloc(sizeof *node);

    (void)argv;
    node->value = argc;
    node->next = NULL;
    put(node);
    return get(node, node->value) + node->value;
}
"""


class Ending(Interruption):
    """Ends the work at a step, by its number; -1 for none. `steps` counts them."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at
        self.steps = 0
        self.has_ended = False

    def step_done(self) -> None:
        """Takes the place of `step_done`."""
        if self.steps == self.at:
            self.has_ended = True
            self.handle(0, None)
        step_done()
        self.steps += 1


@contextmanager
def ended(checker: Checker, at: int) -> Iterator[Ending]:
    """The checker's work is ended at a step while this is entered."""
    before, ending = checker.interruption, Ending(at)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("feasibility.path_search", "report.findings"):
            patch.setattr(f"analysis.engines.automaton.{module}.step_done", ending.step_done)
        checker.interruption = ending
        yield ending
    checker.interruption = before


def said(report: Report | None) -> object:
    assert report is not None
    findings = [(f.fingerprint, f.place, f.message, f.score, f.reasons, f.trace, f.explaining) for f in report.findings]
    return findings, [(f.name, {rule: (v.verdict, v.reason) for rule, v in f.verdicts.items()}) for f in report.functions]


def test_a_check_that_is_ended_at_any_step_leaves_nothing_half_done(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(PROGRAM)
    texts = [PROGRAM, PROGRAM.replace("times = 2", "times = 3"), PROGRAM.replace("value > 3", "value > 4")]
    fresh = []
    for text in texts:
        checker = Checker(Options(engine="automaton"))
        checker.open([str(file)])
        checker.change(str(file), text)
        fresh.append(said(checker.check()))
    assert len({str(one) for one in fresh}) > 1
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    ends = 0
    for at in range(0, 1000, 9):
        before = ends
        for text, wanted in zip(texts, fresh, strict=True):
            checker.change(str(file), text)
            with ended(checker, at) as ending:
                report = checker.check_unless(lambda: False)
            assert (report is None) == ending.has_ended, "an ended check answers nothing"
            ends += report is None
            assert said(checker.check()) == wanted
        if ends == before:
            break
    assert ends > 10


def test_work_in_steps_is_ended_only_when_a_step_is_done() -> None:
    asked = Interruption()
    step_done()
    with asked, interruption.in_steps():
        asked.handle(0, None)
        with pytest.raises(Interrupted):
            step_done()
        step_done()  # it was ended; nobody else is
    with asked, interruption.in_steps():
        asked.handle(0, None)  # too late: there is no further step
    step_done()


def test_a_table_that_is_being_filled_is_filled_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody asks to end the work at each of the moments in which the steps of a function are put together."""
    file = tmp_path / "a.c"
    file.write_text(PROGRAM)
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    wanted, derivations, left = said(checker.check()), FunctionGraph.derivations, [0]

    def asking(graph: FunctionGraph, configuration: int) -> object:
        left[0] -= 1
        if left[0] == 0:
            checker.interruption.handle(0, None)
        return derivations(graph, configuration)

    monkeypatch.setattr(FunctionGraph, "derivations", asking)
    for moment in range(1, 40, 3):
        checker.forget()
        left[0] = moment
        assert checker.check_unless(lambda: False) is None
        assert said(checker.check()) == wanted, moment


def test_verdicts_and_findings_are_of_one_revision_where_a_check_was_ended(tmp_path: Path) -> None:
    """The edit changes verdicts, so that those of before are seen wherever they stay."""
    file = tmp_path / "a.c"
    clean = "int f(int *p) { return p ? *p : 0; }\nint main(void) { return f(0); }\n"
    texts = [clean, clean.replace("p ? *p : 0", "*p")]
    file.write_text(clean)
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    fresh = []
    for text in texts:
        checker.change(str(file), text)
        fresh.append(said(checker.check()))
    ends, was_ended = 0, True
    while was_ended:
        was_ended = False
        for text, wanted in zip(texts, fresh, strict=True):
            checker.change(str(file), text)
            with ended(checker, ends) as ending:
                checker.check_unless(lambda: False)
            assert said(checker.check()) == wanted, f"ended at step {ends}"
            was_ended = was_ended or ending.has_ended
        ends += was_ended
    assert ends > 1
