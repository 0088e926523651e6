"""What is kept of a program serves it at a reference as well.

The class: a program is checked from nothing at a commit that was checked before; or its results take the place of the present
ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.same_findings import FoundThere
from analysis.session.keeping.known_revisions import MOST_REVISIONS, KnownRevision, with_revision
from analysis.store.database import Store

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
EMPTY = "int f(void)\n{\n    return 0;\n}\n"
BROKEN = "int f(void\n{\n"
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


def test_what_was_found_in_a_revision_is_known_after_the_texts_have_changed(folder: Path, store: Path) -> None:
    assert kept(folder, store).keep_revision()
    (folder / "a.c").write_text(GOOD)
    kept(folder, store)
    checker = opened(folder, store, ROLE, BAD)
    revision = checker.known_revision()
    assert revision is not None
    assert [one.function for one in revision.found.findings] == ["f", "g"]
    assert (revision.found.functions, revision.examined) == (("f", "g"), None)
    assert checker.report is None  # nothing was checked
    assert opened(folder, store).known_revision() is None  # the present texts were not kept as a revision


def test_several_revisions_are_known_in_whatever_role(folder: Path, store: Path) -> None:
    for text in (BAD, GOOD, EMPTY):
        assert kept(folder, store, text=text).keep_revision()
    for role in (ROLE, "reference merge-base main"):
        for text, count in ((EMPTY, 1), (BAD, 2), (GOOD, 1)):
            revision = opened(folder, store, role, text).known_revision()
            assert revision is not None
            assert len(revision.found.findings) == count


def test_a_revision_is_another_with_another_header_or_other_options(folder: Path, store: Path) -> None:
    (folder / "a.h").write_text("#define ONE 1\n")
    text = '#include "a.h"\n' + BAD
    assert kept(folder, store, text=text).keep_revision()
    assert opened(folder, store, text=text).known_revision() is not None
    other = opened(folder, store, text=text)
    other.change(str(folder / "a.h"), "#define ONE 2\n")
    assert other.known_revision() is None
    checker = Checker(Options(engine="automaton", rules=("memory-leak",)), store=Store(str(store)))
    checker.open_workspace(str(folder))
    checker.change(str(folder / "a.c"), text)
    assert checker.known_revision() is None
    (folder / "c.c").write_text(GOOD.replace("f(", "h("))
    assert opened(folder, store, text=text).known_revision() is None


def test_a_header_that_would_be_found_first_makes_another_revision(folder: Path, store: Path) -> None:
    (folder / "stdlib.h").write_text("")
    text = '#include <stdlib.h>\n#include "stdlib.h"\n' + BAD
    (folder / "stdlib.h").unlink()
    assert kept(folder, store, text=text).keep_revision()
    assert opened(folder, store, text=text).known_revision() is not None
    (folder / "stdlib.h").write_text("")
    assert opened(folder, store, text=text).known_revision() is None


def test_what_others_wrote_is_not_known(folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(folder, store).keep_revision()
    monkeypatch.setenv("EVERPROOF_STORE_KEY", str(folder / "another.key"))
    assert opened(folder, store).known_revision() is None


def test_what_was_not_checked_is_not_kept(folder: Path, store: Path) -> None:
    assert not opened(folder, store).keep_revision()
    assert not Checker(Options()).keep_revision()
    checker = kept(folder, store)
    checker.change(str(folder / "a.c"), GOOD)
    assert not checker.keep_revision()  # what is in the store is of other texts
    checker.change(str(folder / "a.c"), BROKEN)
    checker.check()
    assert not checker.keep_revision()


def test_only_the_newest_revisions_are_kept() -> None:
    def revision(number: int, *functions: str) -> KnownRevision:
        return KnownRevision((("a.c", ""),), (), {"a.c": str(number)}, (), FoundThere((), functions, ()), None)

    kept: tuple[KnownRevision, ...] = ()
    for number in range(MOST_REVISIONS + 2):
        kept = with_revision(kept, revision(number))
    assert [one.digests["a.c"] for one in kept] == [str(number) for number in range(MOST_REVISIONS + 1, 1, -1)]
    again = with_revision(kept, revision(5, "f"))
    assert (again[0].found.functions, len(again)) == (("f",), MOST_REVISIONS)
