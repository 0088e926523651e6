"""Members that own their memory, by what the whole program does with them. Classes: what speaks against that, each by itself;
an edit of one function changes what another one loses, and it is found as from nothing."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from tests.support.program_edits import LARGE

_ITEM = """\
#include <stdlib.h>
#include <string.h>
struct item { char *name; char *text; };
struct item *make_item(const char *name);
void free_item(struct item *item);
void drop_item(struct item item);
"""
_MAKE = """\
struct item *make_item(const char *name)
{
	struct item *item = calloc(1, sizeof *item);
	if (item != NULL)
		item->name = strdup(name);
	return item;
}
"""
_FREE = "void free_item(struct item *item) { if (item) free(item); }\n"
_BY_VALUE = "void drop_item(struct item item) { free(item.text); }\n"
_TEXT = "void set_text(struct item *item) { item->text = strdup(item->name); }\n"
_AGAINST = {
    "it gets what a caller passes": "void set_name(struct item *item, char *name) { item->name = name; }",
    "it gets a literal": 'void set_name(struct item *item) { item->name = "none"; }',
    "it is emptied": "void hide(struct item *item) { free(item->name); item->name = NULL; }",
    "it is handed out": "char *take(struct item *item) { char *name = item->name; item->name = NULL; return name; }",
    "its value is elsewhere, too": "char *last; void note(struct item *item) { last = item->name; }",
    "a function keeps it": "char *last; static void keep(char *p) { last = p; }"
    " void note(struct item *item) { keep(item->name); }",
    "unknown code is passed it": "void keep(char *); void note(struct item *item) { keep(item->name); }",
    "its address is used": "char **where(struct item *item) { return &item->name; }",
    "objects are copied": "void copy(struct item *to, struct item *from) { *to = *from; }",
    "objects are copied as bytes": "void copy(struct item *to, struct item *from) { memcpy(to, from, sizeof *to); }",
    "a function that is not seen may free it": "void log_item(struct item *item); void note(struct item *i) { log_item(i); }",
    "its bytes are reached": "void clear(struct item *item, int at) { free(*(char **)((char *)item + at)); }",
    "its bytes are reached through a variable": "void clear(struct item *item, int at)"
    " { char *p = (char *)item; free(*(char **)(p + at)); }",
    "an initialiser fills it": 'struct item first = {"first", 0};',
}


_POOL = "static void *all[9]; static int count; void *new_text(void); static void keep(void *p) { all[count++] = p; }\n"
_POOLED = "void set_name(struct item *item) { item->name = new_text(); }\n"
_FREE_POOL = "void free_all(void) { while (count) free(all[--count]); }\n"
_KEPT_BESIDE = {
    "in memory": "void *new_text(void) { void *p = malloc(9); all[count++] = p; return p; }",
    "by a function": "void *new_text(void) { void *p = malloc(9); keep(p); return p; }",
    "by a function that is not seen": "void note(void *); void *new_text(void) { void *p = malloc(9); note(p); return p; }",
    "where it is stored": "void *new_text(void) { return malloc(9); }"
    " void set_more(struct item *item) { char *p = malloc(9); keep(p); item->name = p; }",
}


def _found(checker: Checker) -> list[tuple[str, str]]:
    return sorted((finding.rule, finding.function) for finding in checker.check().findings)


def _check(*files: Path) -> list[tuple[str, str]]:
    checker = Checker(LARGE)
    checker.open([str(file) for file in files])
    try:
        return _found(checker)
    finally:
        checker.close()


def _written(folder: Path, *texts: str) -> list[Path]:
    files = [folder / f"{number}.c" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(_ITEM + text, encoding="utf-8")
    return files


def test_what_an_ended_object_owns_is_lost(tmp_path: Path) -> None:
    assert _check(*_written(tmp_path, _MAKE, _FREE)) == [("memory-leak", "free_item")]


def test_where_it_frees_under_a_condition_it_loses_nothing(tmp_path: Path) -> None:
    free = "void free_item(struct item *item) { if (item->text) free(item->name); free(item); }\n"
    assert _check(*_written(tmp_path, _MAKE, free)) == []


def test_a_member_need_not_own_what_it_holds(tmp_path: Path) -> None:
    files = _written(tmp_path, _MAKE, _FREE, "")
    checker = Checker(LARGE)
    checker.open([str(file) for file in files])
    lost = [("memory-leak", "free_item")]
    try:
        assert _found(checker) == lost
        for why, text in _AGAINST.items():
            checker.change(str(files[2]), f"{_ITEM}{text}\n")
            assert (why, _found(checker)) == (why, [])
            checker.change(str(files[2]), None)
            assert (why, _found(checker)) == (why, lost)
    finally:
        checker.close()


def test_what_is_new_may_be_kept_elsewhere(tmp_path: Path) -> None:
    alone = "void *new_text(void) { void *p = malloc(9); return p; }\n"
    files = _written(tmp_path, _MAKE, _FREE, _POOL + _FREE_POOL + _POOLED + alone)
    checker = Checker(LARGE)
    checker.open([str(file) for file in files])
    try:
        assert _found(checker) == [("memory-leak", "free_item")]
        for why, text in _KEPT_BESIDE.items():
            checker.change(str(files[2]), f"{_ITEM}{_POOL}{_FREE_POOL}{_POOLED}{text}\n")
            assert (why, _found(checker)) == (why, [])
    finally:
        checker.close()


def test_an_edit_of_what_is_stored_is_as_from_nothing(tmp_path: Path) -> None:
    files = _written(tmp_path, _MAKE, _BY_VALUE, _TEXT)
    checker = Checker(LARGE)
    checker.open([str(file) for file in files])
    try:
        assert _found(checker) == [("memory-leak", "drop_item")]
        checker.change(str(files[0]), _ITEM + _MAKE.replace("strdup(name)", "(char *)name"))
        assert _found(checker) == []
        checker.change(str(files[0]), None)
        assert _found(checker) == [("memory-leak", "drop_item")]
    finally:
        checker.close()


def test_a_value_may_have_been_copied_on_very_many_ways(tmp_path: Path) -> None:
    """Each variable is a copy of one of the two before it: there are 2 ** 40 ways, and one source."""
    declared = "".join(f"char *x{n} = NULL, *y{n} = NULL;\n" for n in range(41))
    pairs = ((n, n + 1) for n in range(40))
    copied = "".join(f"if (c) {{ x{m} = x{n}; y{m} = y{n}; }} else {{ x{m} = y{n}; y{m} = x{n}; }}\n" for n, m in pairs)
    text = f"void set_text(struct item *item, int c)\n{{\n{declared}x0 = strdup(item->name);\n{copied}item->text = x40;\n}}\n"
    rows = _check(*_written(tmp_path, _MAKE, _FREE, text))
    assert ("memory-leak", "free_item") in rows
