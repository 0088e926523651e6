"""The class: a file comes to be where a compiler looks for a header, while a session runs. What is read is another program then,
though no file that was read changed: the next check has to find what a check from scratch finds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.frontend.compiler.compiler_run import find_compiler
from analysis.model.options import CompilerFlags, Options
from analysis.model.report import Report

pytestmark = pytest.mark.skipif(find_compiler(None) is None, reason="there is no compiler")
OPTIONS = Options(flags=CompilerFlags(include_dirs=("first", "second")), rules=("null-dereference",))
F = "int f(void) { int x = 1, *p = P; return *p; }\n"
SAFE, WRONG = "#define P &x\n", "#define P 0\n"
ASKS = "CONDITION\n#define P 0\n#else\n" + SAFE + "#endif\n" + F
CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "beside the file": ({"a.c": f'#include "x.h"\n{F}', "second/x.h": SAFE}, {"x.h": WRONG}),
    "in a folder before": ({"a.c": f'#include "x.h"\n{F}', "second/x.h": SAFE}, {"first/x.h": WRONG}),
    "in a new folder": ({"a.c": f'#include "sub/x.h"\n{F}', "second/sub/x.h": SAFE}, {"first/sub/x.h": WRONG}),
    "beside a header": (
        {"a.c": f'#include "y.h"\n{F}', "second/y.h": "#include <in/x.h>\n", "second/in/x.h": SAFE},
        {"first/in/x.h": WRONG},
    ),
    "asked for": ({"a.c": ASKS.replace("CONDITION", '#if __has_include("x.h")')}, {"x.h": ""}),
    "asked for by a macro": ({"a.c": ASKS.replace("CONDITION", '#define H "x.h"\n#if __has_include(H)')}, {"x.h": ""}),
    "named by a macro": ({"a.c": f'#define H "sub/x.h"\n#include H\n{F}', "second/sub/x.h": SAFE}, {"first/sub/x.h": WRONG}),
}


def _write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def _findings(report: Report) -> list[tuple[str, str]]:
    return [(finding.rule, finding.message) for finding in report.findings]


def _from_scratch() -> Report:
    checker = Checker(OPTIONS)
    checker.open(["a.c"])
    return checker.check()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _write({"first/other.h": "", "second/other.h": ""})


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("unsaved", [False, True], ids=["on the disk", "unsaved"])
def test_a_header_that_comes_to_be_is_read(name: str, unsaved: bool) -> None:
    before, new = CASES[name]
    _write(before)
    checker = Checker(OPTIONS)
    checker.open(["a.c"])
    assert not checker.check().findings
    if unsaved:
        for path, text in new.items():
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            checker.change(path, text)
    else:
        _write(new)
    again = checker.check()
    assert again.findings
    if not unsaved:
        assert _findings(again) == _findings(_from_scratch())
    if unsaved:
        for path in new:
            checker.change(path, None)
        assert not checker.check().findings


def test_a_header_that_a_new_line_asks_for_is_read() -> None:
    _write({"a.c": SAFE + F})
    checker = Checker(OPTIONS)
    checker.open(["a.c"])
    checker.check()
    _write({"a.c": ASKS.replace("CONDITION", '#if __has_include("x.h")')})
    assert not checker.check().findings
    _write({"first/x.h": ""})
    assert checker.check().findings


def test_other_new_files_change_nothing() -> None:
    _write({"a.c": f'#include "x.h"\n{F}', "second/x.h": SAFE})
    checker = Checker(OPTIONS)
    checker.open(["a.c"])
    checker.check()
    _write({"first/z.h": WRONG, "z.h": WRONG})
    report = checker.check()
    assert not report.findings
    assert report.work.functions.recomputed == 0
