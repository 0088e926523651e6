"""What is kept of a program serves it at a reference as well.

The class: a program is checked from nothing at a commit that was checked before; or its results take the place of the present
ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.store.database import Store

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
GOOD = "int f(void)\n{\n    int x = 1, *p = &x;\n    return *p;\n}\n"
ROLE = "reference HEAD"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "a.c").write_text(BAD)
    (folder / "b.c").write_text(BAD.replace("f(", "g("))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "kept.everproof"


def opened(folder: Path, store: Path, role: str = "", text: str | None = None) -> Checker:
    checker = Checker(Options(engine="automaton"), store=Store(str(store)))
    checker.open_workspace(str(folder), (), role)
    if text is not None:
        checker.change(str(folder / "a.c"), text)
    return checker


def kept(folder: Path, store: Path, role: str = "", text: str | None = None) -> Checker:
    checker = opened(folder, store, role, text)
    checker.check()
    assert checker.save()
    return checker


def test_what_is_kept_of_the_present_texts_answers_for_a_reference_that_they_are(folder: Path, store: Path) -> None:
    kept(folder, store)
    checker = opened(folder, store, ROLE)
    assert len(checker.check().findings) == 2
    assert checker.resting


def test_a_reference_that_differs_goes_on_from_what_is_kept(folder: Path, store: Path) -> None:
    kept(folder, store)
    checker = opened(folder, store, ROLE, GOOD)
    report = checker.check()
    assert [finding.function for finding in report.findings] == ["g"]
    assert report.work.functions.recomputed == 1


def test_results_of_a_reference_and_of_the_present_texts_are_kept_apart(folder: Path, store: Path) -> None:
    kept(folder, store)
    kept(folder, store, ROLE, GOOD)
    for role, text, count in (("", None, 2), (ROLE, GOOD, 1)):
        checker = opened(folder, store, role, text)
        assert len(checker.check().findings) == count
        assert checker.resting


def test_what_was_kept_for_the_reference_is_there_after_the_texts_have_changed(folder: Path, store: Path) -> None:
    checker = kept(folder, store)
    assert checker.keep_as(ROLE)
    (folder / "a.c").write_text(GOOD)
    kept(folder, store)
    checker = opened(folder, store, ROLE, BAD)
    assert len(checker.check().findings) == 2
    assert checker.resting
    checker = opened(folder, store, "reference merge-base main", BAD)
    checker.check()
    assert not checker.resting


def test_an_edit_goes_on_from_a_copy(folder: Path, store: Path) -> None:
    assert kept(folder, store).keep_as(ROLE)
    (folder / "a.c").write_text("int unreadable(\n")
    checker = opened(folder, store, ROLE, GOOD)
    report = checker.check()
    assert [finding.function for finding in report.findings] == ["g"]
    assert report.work.functions.recomputed == 1


def test_where_nothing_is_kept_there_is_nothing_to_copy(folder: Path, store: Path) -> None:
    assert not opened(folder, store).keep_as(ROLE)
    assert not Checker(Options()).keep_as(ROLE)
    checker = kept(folder, store)
    assert not checker.keep_as(ROLE, stop=lambda: True)
    assert checker.keep_as(ROLE)
    assert checker.keep_as(ROLE, stop=lambda: True)  # it is there already
