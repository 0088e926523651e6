"""After edits that break what a proof rests on, far away from it, contracts prove what they prove from scratch, and not what is
violated; also after the edit is taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.model.options import Options
from analysis.session.portfolio.request import Proved
from tests.support.breaking_edits import BREAKS, Break
from tests.support.contract_proofs import answers, forget, from_nothing

_GROUPS = 8


class _Editor:
    """A folder whose files are edited."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self._folder, self._texts, self._version = folder, dict[str, str](), 0
        contracts = folder / ".everproof" / "functions"
        self.write(files)
        self._checker = Checker(Options(engine="automaton", functions_dirs=(str(contracts),) if contracts.is_dir() else ()))
        self._checker.open([str(folder / name) for name in files if name.endswith(".c")])

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / name).write_text(text)

    def edit(self, files: dict[str, str]) -> Program:
        """The program of these texts."""
        self._version += 1
        for name, text in files.items():
            if self._texts.get(name) != text and name.endswith(".yaml"):
                self.write({name: text})
                self._checker.refresh()
            elif self._texts and self._texts[name] != text:
                self._checker.change(str(self._folder / name), text, self._version)
        self._texts = files
        program: Program = self._checker.inspect().program
        return program


def _follow(edit: Break, folder: Path) -> None:
    before, after = edit.files(after=False), edit.files(after=True)
    editor = _Editor(folder, before)
    for files in (before, after, before):
        program = editor.edit(files)
        now = answers(program)
        assert now == from_nothing(program), edit.name
        if files is after:
            proved = {(one.function.rpartition("::")[2], one.rule) for one in now if isinstance(one.answer, Proved)}
            assert (edit.function, edit.rule) not in proved, edit.name


@pytest.mark.parametrize("group", range(_GROUPS))
def test_what_an_edit_far_away_breaks_is_not_proved(group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)
    for number, edit in enumerate(BREAKS[group::_GROUPS]):
        _follow(edit, tmp_path / str(number))
