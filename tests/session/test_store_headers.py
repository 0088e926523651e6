"""Headers that are not what they were, that appear or go: what was kept for other ones is not taken for an answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analysis.model.options import CompilerFlags, Options
from analysis.session.units.lookups import asked_by
from tests.support.kept_program import (
    HEADER,
    ONE,
    OTHER,
    answer,
    checked_and_saved,
    from_scratch,
    opened,
    recomputed,
    write_program,
)


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_program()


def test_a_header_that_changed_is_noticed() -> None:
    assert checked_and_saved().findings
    Path("get.h").write_text(HEADER.replace("return *p", "return p ? *p : 0"))
    report = opened().check()
    assert not report.findings
    assert answer(report) == answer(from_scratch())


def test_a_header_that_appears_where_it_would_be_found_first_is_noticed() -> None:
    for folder in ("first", "second"):
        os.mkdir(folder)
    os.rename("get.h", "second/get.h")
    options = Options(flags=CompilerFlags(include_dirs=("first", "second")))
    assert checked_and_saved(options).findings
    assert recomputed(opened(options=options).check()) == (0, 0, 0)
    for place in ("first/get.h", "get.h"):
        Path(place).write_text(HEADER.replace("return *p", "return p ? *p : 0"))
        report = opened(options=options).check()
        assert not report.findings
        assert answer(report) == answer(from_scratch(options))
        os.unlink(place)


def test_a_header_that_is_only_asked_for_is_noticed() -> None:
    Path("get.h").write_text(HEADER + '#if __has_include("extra.h")\n#include "extra.h"\n#endif\n')
    first = checked_and_saved()
    assert recomputed(opened().check()) == (0, 0, 0)
    Path("extra.h").write_text("static inline int extra(void) { int *p = 0; return *p; }\n")
    report = opened().check()
    assert len(report.functions) > len(first.functions)
    assert answer(report) == answer(from_scratch())


def test_a_file_that_only_line_directives_name_is_noticed() -> None:
    Path("grammar.y").write_text("int f(int *p)\n{\n        return *p;\n}\nint g(void) { return f(0); }\n")
    Path("one.c").write_text(ONE + '#line 5 "grammar.y"\nint three(void) { int *p = 0; return *p; }\n')
    Path("other.c").write_text(OTHER.replace("two()", "three()").replace("int two", "int three"))
    checked_and_saved()
    assert recomputed(opened().check()) == (0, 0, 0)
    Path("grammar.y").write_text("\n\n\n\nint    three(void) { int *p = 0; return *p; }\n")
    assert answer(opened().check()) == answer(from_scratch())


def _asks(condition: str) -> str:
    return f"{condition}\nstatic int given(void) {{ return 1; }}\n#else\nstatic int given(void) {{ return 0; }}\n#endif\n"


@pytest.mark.parametrize(
    "text",
    [
        _asks('#define HAS(x) __has_include(x)\n#if HAS("extra.h")'),
        _asks('#define EXTRA "extra.h"\n#if __has_include(EXTRA)'),
        "#define TEXT(x) #x\n#define NAME(x) TEXT(x)\n#define HERE sub/..\n#include NAME(HERE/get.h)\n",
        '/* "as in\n*/ #define EXTRA "extra.h"\n' + _asks("#if __has_include(EXTRA)") + '/* here" */\n',
        '#define EXTRA "extra.h"\n#if 0\ndon\'t /* stop\n#endif\n' + _asks("#if __has_include(EXTRA)") + "/* here */\n",
        '#define EXTRA "extra.h"\nstatic const char open[] = "/*";\n' + _asks("#if __has_include(EXTRA)") + "/* here */\n",
        '#define EXTRA "extra.h"\nstatic const char *open = R"x(/*)x";\n' + _asks("#if __has_include(EXTRA)") + "/* here */\n",
    ],
)
def test_what_may_depend_on_more_than_is_known_is_not_kept(text: str) -> None:
    os.mkdir("sub")
    Path("get.h").write_text("#pragma once\n" + HEADER)
    Path("one.c").write_text(text + ONE)
    checker = opened()
    checker.check()
    assert not checker.save()


def test_what_stands_in_angle_brackets_begins_no_comment() -> None:
    for name in (b"#include <sub/*get.h>", b"#include /* */ <sub//get.h>", b"#if __has_include(<sub/*get.h>)\n#endif"):
        assert asked_by(name + b"\n#if __has_include(EXTRA) /* here */\n#endif\n").open
    assert not asked_by(b"#include <sub/get.h> /* __has_include(EXTRA) */\nint n; // __has_include(EXTRA)\n").open


@pytest.mark.parametrize(
    "text",
    [
        '#ifdef __has_include\n#if defined(__has_include) && __has_include ( "extra.h" )\n#endif\n#endif\n',
        _asks('#if __has_\\\ninclude("extra.h")'),
        '#define GET "get.h"\n#include GET\n',
        "static const char *when(void) { return __DATE__ __TIME__ __TIMESTAMP__; }\n",
        "/* such headers\n   #include's others, __has_include(THIS) of another */\n#define MOST 5 /* see ../it */ // or ..\n",
        '#define GET "get.h" /* beside ../other */\n#include GET\n// whatever #if __has_include(EXTRA) says\n',
    ],
)
def test_what_is_asked_for_by_name_is_kept(text: str) -> None:
    Path("get.h").write_text("#pragma once\n" + HEADER)
    Path("one.c").write_text(text + ONE)
    checked_and_saved()
    assert recomputed(opened().check()) == (0, 0, 0)


def test_a_header_in_a_folder_that_a_macro_names_is_noticed() -> None:
    for folder in ("first/sub", "second/sub"):
        os.makedirs(folder)
    os.rename("get.h", "second/sub/get.h")
    Path("one.c").write_text('#define GET "sub/get.h"\n' + ONE.replace('"get.h"', "GET"))
    options = Options(flags=CompilerFlags(include_dirs=("first", "second")))
    assert checked_and_saved(options).findings
    Path("first/sub/get.h").write_text(HEADER.replace("return *p", "return p ? *p : 0"))
    report = opened(options=options).check()
    assert not report.findings
    assert answer(report) == answer(from_scratch(options))


@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH"])
def test_folders_that_the_environment_names_are_looked_at(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("first", "second"):
        os.mkdir(folder)
    os.rename("get.h", "second/get.h")
    first, second = os.path.abspath("first"), os.path.abspath("second")
    Path("one.c").write_text(ONE.replace('"get.h"', "<get.h>"))
    monkeypatch.setenv(variable, f"{first}:{second}")
    assert checked_and_saved().findings
    Path("first/get.h").write_text(HEADER.replace("return *p", "return p ? *p : 0"))
    assert not opened().check().findings
    monkeypatch.setenv(variable, second)
    assert opened().check().findings
