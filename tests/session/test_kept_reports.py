"""What speaks for a finding, and which steps explain it, is looked for again only where that can be something else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.engines.automaton.report.path_evidence import Tracked
from analysis.engines.automaton.report.trace import Tracer
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report

_LARGE = Options(limits=Limits(global_edges=0))
_PROGRAM = """\
#define IS_MISSING(pointer) (0 == (pointer))
extern int *given(void);
static int found;
static int *find(int wanted) { return wanted > 3 ? &found : 0; }
static int show(int wanted)
{
    int *entry = find(wanted);
    if (wanted > 9) found = 2;
    return *entry;
}
static int test(int *entry, int wanted)
{
    if (IS_MISSING(entry)) wanted = 2;
    return *entry + wanted;
}
int main(int count, char **arguments)
{
    int before = level();
    int shown = show(count);
    int *other = given();
    int tested = test(other, count);
    return shown + tested;
}
"""


def _answers(report: Report) -> object:
    return [(one.rule, one.place, one.fingerprint, one.trace, one.explaining, one.evidence) for one in report.findings]


class _Edited:
    """A checker of one file, and how often evidence and explanations were looked for since the last edit."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path.write_text(_PROGRAM)
        self.path = str(path)
        self.looked: list[str] = []
        self.checker = Checker(_LARGE)
        self.checker.open([self.path])
        assert [finding.function for finding in self.checker.check().findings] == ["show", "test"]
        for owner, name in ((Tracked, "evidence"), (Tracer, "explaining")):
            monkeypatch.setattr(owner, name, self._counted(name, getattr(owner, name)))

    def _counted(self, name: str, look: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object) -> object:
            self.looked.append(name)
            return look(*arguments)

        return counted

    def edit(self, text: str) -> tuple[int, int]:
        """Checks a text, also from scratch; how often evidence and explanations were looked for."""
        self.looked.clear()
        self.checker.change(self.path, text)
        report, looked = self.checker.check(), list(self.looked)
        scratch = Checker(_LARGE, algorithm="full")
        scratch.open([self.path])
        scratch.change(self.path, text)
        assert _answers(report) == _answers(scratch.check())
        return looked.count("evidence"), looked.count("explaining")


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Edited:
    return _Edited(tmp_path / "a.c", monkeypatch)


def test_text_that_only_moves_says_the_same(edited: _Edited) -> None:
    assert edited.edit("\n/* about the file */\n" + _PROGRAM) == (0, 0)


def test_functions_before_those_that_were_looked_at_explain_nothing(edited: _Edited) -> None:
    evidence, explained = edited.edit(_PROGRAM.replace("return shown", "found = 9; return shown"))
    assert (evidence, explained) == (2, 0)


def test_an_edit_on_the_way_is_looked_at(edited: _Edited) -> None:
    evidence, explained = edited.edit(_PROGRAM.replace("return *entry;", "wanted++; return *entry;"))
    assert (evidence, explained) == (1, 1)


def test_a_macro_that_is_written_out_is_no_macro_any_more(edited: _Edited) -> None:
    written = _PROGRAM.replace("IS_MISSING(entry)", "(0 == (entry))")
    assert edited.edit(written)[0] == 1  # though all functions are the same
    assert edited.edit(_PROGRAM)[0] == 1


def test_what_another_branch_does_can_explain_an_error_on_the_same_path(edited: _Edited) -> None:
    """The path does not set `entry` anew: that is what its branch is about, now."""
    before = [finding.explaining for finding in edited.checker.check().findings if finding.function == "show"]
    assert edited.edit(_PROGRAM.replace("found = 2;", "entry = &found;"))[1] == 1
    assert [one.explaining for one in edited.checker.check().findings if one.function == "show"] != before


def test_a_union_anywhere_can_have_a_member_of_that_name(edited: _Edited) -> None:
    assert edited.edit(_PROGRAM.replace("static int found;", "static union { int first; } found_as;\nstatic int found;"))[0] == 2
