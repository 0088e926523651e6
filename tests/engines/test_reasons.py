"""Why functions are looked at again: what a program's revisions say of them, from texts."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.cfa.linking.link import LinkedProgram, link
from analysis.engines.automaton import Analysis
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.rules.load import load_rules
from tests.support.lowered import unit_of

TEXT = """\
void free(void *);
static void drop(int *p) { *p = 1; }
static void other(void) { }
int main(int argc, char **argv) { int *p = (int *)argv; drop(p); other(); return *p; }
"""


class Revisions:
    """One program, from text to text."""

    def __init__(self) -> None:
        self._unit = unit_of(TEXT)
        self._linked: LinkedProgram = link([self._unit])
        self.analysis = Analysis(self._linked.program, load_rules(Options())[0], Limits())
        self.analysis.run(["main"])

    def replace(self, text: str) -> None:
        self._unit = unit_of(text, previous=self._unit)
        self._linked = link([self._unit], before=self._linked)
        assert self.analysis.revise(self._linked.program, ["main"], "incr-back")

    def rechecked(self) -> dict[str, tuple[str, str]]:
        taken = self.analysis.take_rechecked()
        return {name.rpartition("::")[2]: (reason, other.rpartition("::")[2]) for name, (reason, other) in taken.items()}


def test_a_run_from_scratch_looks_at_everything() -> None:
    assert Revisions().rechecked() == dict.fromkeys(("drop", "other", "main"), ("scratch", ""))


def test_a_function_that_comes_has_a_small_program_looked_at_and_is_told_from_those_that_were_not_edited(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(TEXT)
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    assert {done.reason for done in checker.check().rechecked} == {"scratch"}
    checker.change(str(file), TEXT.replace("int main", "static int new(void) { return 1; }\nint main"), 2)
    reasons = {done.function: done.reason for done in checker.check().rechecked}
    assert reasons == {"drop": "small", "other": "small", "main": "small", "new": "text"}


def test_a_changed_body_concerns_the_caller_when_it_ends_otherwise_and_nobody_else() -> None:
    revisions = Revisions()
    revisions.rechecked()
    revisions.replace(TEXT.replace("*p = 1;", "*p = 2;"))
    assert revisions.rechecked() == {"drop": ("text", "")}
    revisions.replace(TEXT.replace("*p = 1;", "free(p);"))
    assert revisions.rechecked() in [{"drop": ("text", ""), "main": (why, "drop")} for why in ("callee", "summary")]


def test_what_is_only_laid_out_otherwise_is_not_looked_at() -> None:
    revisions = Revisions()
    revisions.rechecked()
    revisions.replace(TEXT.replace("*p = 1;", "\n    *p = 1; /* one */"))
    assert revisions.rechecked() == {}


def test_what_was_looked_at_for_an_answer_that_was_never_given_is_not_forgotten() -> None:
    revisions = Revisions()
    revisions.rechecked()
    revisions.replace(TEXT.replace("*p = 1;", "*p = 2;"))
    revisions.replace(TEXT.replace("*p = 1;", "*p = 2;").replace("other(void) { }", "other(void) { return; }"))
    revisions.replace(TEXT.replace("*p = 1;", "*p = 2;").replace("other(void) { }", "other(void) { int i = 1; i++; }"))
    assert revisions.rechecked() == {"drop": ("text", ""), "other": ("text", "")}


def test_what_obstructs_everything_leaves_the_graph_and_is_reported_of_each_function() -> None:
    revisions = Revisions()
    revisions.rechecked()
    before = _configurations(revisions.analysis)
    revisions.replace(f'asm("nop");\n{TEXT}')
    assert revisions.rechecked() == {}
    assert _configurations(revisions.analysis) == before
    assert all(edge.unsupported for edge in revisions.analysis.program.functions.values())
    revisions.replace(TEXT)
    assert revisions.rechecked() == {}
    assert not any(edge.unsupported for edge in revisions.analysis.program.functions.values())


def _configurations(analysis: Analysis) -> dict[str, dict[int, list[int]]]:
    return {name: dict(part.derived) for name, part in analysis.graph.functions.items()}
