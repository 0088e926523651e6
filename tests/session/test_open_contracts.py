"""Contracts of a program that is edited: of the text as it is, and compared with the text that was saved last."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.certificate.nonzero import followed
from analysis.model.options import Options
from analysis.session.contracts import open_contracts
from analysis.session.contracts.open_contracts import Told
from analysis.session.contracts.sentences import callers_sentence, sentences
from analysis.store.database import Store

TEXT = """
void *malloc(unsigned long); void free(void *); int strcmp(const char *, const char *);
struct item { int size; char *name; struct item *next; };
int count;
static int size(const struct item *i) { return i ? i->size : 0; }
struct item *find(struct item *list, const char *name)
{
    for (; list; list = list->next)
        if (list->name && strcmp(list->name, name) == 0)
            return list;
    return 0;
}
void drop(struct item *i) { free(i); }
int twice(struct item *i) { return size(i) + size(0); }
int once(struct item *i) { count++; return size(i); }
"""

LIVE = "expects `i` to be null, or neither freed nor closed"
SIZE = [LIVE, "if it returns another value than 0, `i != NULL`", "writes nothing that callers see"]


class Opened:
    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.path = str(folder / "a.c")
        self.version = 1
        Path(self.path).write_text(TEXT)
        self.checker = Checker(Options(engine="automaton"), store=store)
        self.checker.open_workspace(str(folder))
        self.checker.change(self.path, TEXT, self.version)
        self.checker.check()

    def edit(self, text: str, *, check: bool = True) -> None:
        self.version += 1
        self.checker.change(self.path, text, self.version)
        if check:
            self.checker.check()

    def save(self, version: int | None = None) -> None:
        self.checker.contracts.saved(self.path, version or self.version, self.version)

    def changes(self) -> dict[str, str]:
        found = self.checker.contracts.go_on(lambda: True)
        assert not self.checker.contracts.unfinished
        return {change.function: change.text for change in found or ()}

    def told(self, name: str) -> list[str]:
        return [text for text, _ in sentences(self.tell(name).contract)]

    def tell(self, name: str) -> Told:
        told = self.checker.contracts.tell(self.path, name, lambda: True)
        assert told is not None
        return told


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened(tmp_path)


def test_a_contract_is_that_of_the_text_as_it_is(opened: Opened) -> None:
    assert opened.told("size") == SIZE
    opened.edit(TEXT.replace("i ? i->size : 0", "i->size"))
    expected = "expects `i` to be neither freed nor closed"
    assert opened.told("size") == ["expects `i != NULL`", expected, "returns `i->size`", "writes nothing that callers see"]
    aside = "1 of 2 callers is not proved to keep what it expects, blocks and streams aside"
    assert callers_sentence(opened.tell("size").contract) == aside
    opened.edit(TEXT)
    assert opened.told("size") == SIZE
    assert callers_sentence(opened.tell("size").contract) == "called by 2 functions"


def test_nothing_is_told_of_a_text_that_was_not_checked(opened: Opened) -> None:
    opened.edit(TEXT.replace("i ? i->size : 0", "i->size"), check=False)
    assert opened.checker.contracts.tell(opened.path, "size", lambda: True) is None
    assert opened.checker.contracts.go_on(lambda: True) is None


def test_a_declaration_is_shown_as_it_is_written(opened: Opened) -> None:
    assert opened.tell("size").contract.declared == "static int size(const struct item *i)"
    assert opened.tell("find").contract.declared == "struct item *find(struct item *list, const char *name)"


def test_a_library_function_is_known_by_the_table_if_its_declaration_agrees(opened: Opened) -> None:
    assert opened.told("malloc")[0] == "returns NULL or a new block, which has to be freed"
    assert opened.told("strcmp")[0] == "requires arguments 1 and 2 not to be NULL"
    assert opened.checker.contracts.tell(opened.path, "nobody", lambda: True) is None
    opened.edit(TEXT.replace("int strcmp(const char *, const char *)", "int strcmp(const char *, const char *), strlen(int)"))
    assert opened.checker.contracts.tell(opened.path, "strlen", lambda: True) is None


def test_what_there_is_no_time_for_is_found_when_nobody_waits(opened: Opened) -> None:
    contracts = opened.checker.contracts
    opened.changes()
    soon = contracts.tell(opened.path, "find", lambda: False)
    assert soon is not None
    assert not soon.is_whole
    assert sentences(soon.contract) == (("may return NULL", "seen in the code"),)
    assert contracts.unfinished
    assert contracts.go_on(lambda: False) is None
    assert contracts.unfinished
    assert contracts.go_on(lambda: True) is None, "nothing was edited"
    assert not contracts.unfinished
    again = contracts.tell(opened.path, "find", lambda: False)
    assert again is not None
    assert again.is_whole
    assert sentences(again.contract)[0].text == "expects `name != NULL`"


EDITS = {
    "size": (
        "i ? i->size : 0",
        "i->size",
        "now expects `i != NULL`: 1 of 2 callers is not proved to keep it; now returns `i->size`",
    ),
    "drop": ("{ free(i); }", "{ }", "no longer frees `i`; no longer writes `errno`"),
    "once": ("count++; return", "return", "no longer writes `count`"),
    "twice": ("return size(i) + size(0)", "for (;;) {}", "does not return any more"),
    "find": (
        "strcmp(list->name, name) == 0)",
        "strcmp(list->name, name ? name : list->name) == 0)",
        "no longer expects `name != NULL`",
    ),
}


@pytest.mark.parametrize("function", EDITS)
def test_an_edit_is_compared_with_the_text_that_was_opened(opened: Opened, function: str) -> None:
    assert opened.changes() == {}
    old, new, said = EDITS[function]
    assert old in TEXT
    opened.edit(TEXT.replace(old, new))
    assert opened.changes() == {function: f"contract changed: {said}"}
    opened.edit(TEXT)
    assert opened.changes() == {}


def test_an_edit_that_leaves_the_contract_as_it_was_says_so(opened: Opened) -> None:
    opened.edit(TEXT.replace("i ? i->size : 0", "i ? i->size + 1 - 1 : 0"))
    assert opened.changes() == {"size": "contract unchanged for 2 callers"}


def test_other_names_of_parameters_change_no_contract(opened: Opened) -> None:
    renamed = TEXT.replace("const char *name)\n", "const char *called)\n").replace(
        "strcmp(list->name, name)", "strcmp(list->name, called)"
    )
    opened.edit(renamed)
    assert set(opened.changes().values()) <= {"contract unchanged"}
    assert opened.told("find")[0] == "expects `called != NULL`"


def test_what_was_saved_is_the_text_that_is_compared_with(opened: Opened) -> None:
    needs = TEXT.replace("i ? i->size : 0", "i->size")
    opened.edit(needs)
    assert "size" in opened.changes()
    opened.save()
    assert opened.changes() == {}
    opened.edit(TEXT)
    assert opened.changes() == {
        "size": "contract changed: no longer expects `i != NULL`; no longer returns `i->size` — 2 callers"
    }


def test_a_version_that_is_still_to_come_can_be_saved(opened: Opened) -> None:
    opened.save(version=2)
    opened.edit(TEXT.replace("i ? i->size : 0", "i->size"))
    assert opened.changes() == {}
    opened.edit(TEXT)
    assert opened.changes() == {
        "size": "contract changed: no longer expects `i != NULL`; no longer returns `i->size` — 2 callers"
    }


def test_nothing_is_compared_with_a_saved_text_that_was_never_checked(opened: Opened) -> None:
    opened.edit(TEXT.replace("i ? i->size : 0", "i->size"), check=False)
    opened.save()
    opened.edit(TEXT.replace("i ? i->size : 0", "i->size + 1"))
    assert opened.changes() == {}
    opened.save()
    opened.edit(TEXT)
    assert "size" in opened.changes()


def test_a_file_that_was_closed_is_not_compared(opened: Opened) -> None:
    Path(opened.path).write_text(TEXT.replace("i ? i->size : 0", "i->size"))
    opened.checker.change(opened.path, None)
    opened.checker.check()
    assert opened.changes() == {}


def test_nothing_is_said_of_callers_that_the_engine_had_to_check_again(opened: Opened) -> None:
    """The contract is as before. What the engine knows of the argument is not, so that it has looked at the caller."""
    text = TEXT + "void both(struct item *i) { drop(i); i->size = 1; }\n"
    opened.edit(text)
    opened.save()
    told = opened.told("drop")
    opened.edit(text.replace("{ free(i); }", "{ free(i); i = 0; }"))
    report = opened.checker.report
    assert report is not None
    assert "both" in {one.function for one in report.rechecked if one.reason == "summary"}
    assert opened.told("drop") == told
    assert opened.changes() == {}


def test_what_takes_too_long_is_left_out(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_contracts, "MOST_SECONDS", -1.0)
    opened.edit(TEXT.replace("i ? i->size : 0", "i->size"))
    assert opened.changes() == {}


def test_a_program_out_of_the_store_is_compared_with(tmp_path: Path) -> None:
    folder, kept = tmp_path / "program", str(tmp_path / "store.sqlite")
    folder.mkdir()
    first = Opened(folder, Store(kept))
    assert first.checker.save()
    again = Opened(folder, Store(kept))
    assert again.checker.contracts.tell(again.path, "size", lambda: True) is None, "nothing but the report is in memory"
    again.checker.wake()
    assert again.told("size") == SIZE
    again.edit(TEXT.replace("i ? i->size : 0", "i->size"))
    assert "size" in again.changes()


def test_all_functions_are_followed_when_nobody_waits(opened: Opened) -> None:
    contracts = opened.checker.contracts
    opened.changes()
    assert contracts.unfollowed
    contracts.follow_all(lambda: False)
    assert contracts.unfollowed, "it was interrupted"
    contracts.follow_all(lambda: True)
    assert not contracts.unfollowed
    assert contracts.tell(opened.path, "find", lambda: False).is_whole, "nobody waits for what is known"  # type: ignore[union-attr]


def test_half_a_line_does_not_make_everything_be_followed_again(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    contracts, walked = opened.checker.contracts, list[str]()
    contracts.follow_all(lambda: True)
    walk = followed.walk
    monkeypatch.setattr(
        followed, "walk", lambda edges, *more, **named: walked.append(edges.cfa.name) or walk(edges, *more, **named)
    )
    opened.edit(TEXT.replace("return i ?", "struct half { int a; } h; return i ?"))
    contracts.follow_all(lambda: True)
    assert "find" in walked, "there is another structure in the program"
    walked.clear()
    opened.edit(TEXT)
    contracts.follow_all(lambda: True)
    assert "find" not in walked
