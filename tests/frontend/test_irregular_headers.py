"""Headers that no compiler may open: it would wait for ever, or read without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analysis.frontend.compiler.compiler_run import Outcome
from analysis.frontend.compiler.irregular_headers import irregular_headers
from analysis.frontend.text import preprocess as module
from analysis.frontend.text.preprocess import Preprocessed, doubt, preprocess
from analysis.model.options import Options
from analysis.model.unit_flags import Folder, UnitFlags

AFTER = b"#define N 4\nint a[N];\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "include").mkdir()
    os.mkfifo(tmp_path / "pipe.h")
    os.mkfifo(tmp_path / "include" / "far.h")
    (tmp_path / "folder.h").mkdir()
    (tmp_path / "plain.h").write_text("int plain;\n")
    (tmp_path / "nested.h").write_text('#include "plain.h"\n#include "pipe.h"\n')
    (tmp_path / "link.h").symlink_to(tmp_path / "pipe.h")
    (tmp_path / "round.h").write_text('#include "round.h"\n')
    return tmp_path


def result_of(folder: Path, text: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[Preprocessed, list[bytes]]:
    """The result, and what the compiler was given to read; it never waits."""
    given: list[bytes] = []
    real = module.run_compiler

    def run(argv: list[str], here: str, source: bytes, seconds: float, limits: object) -> Outcome:
        given.append(source)
        return real(argv, here, source, seconds, limits)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "run_compiler", run)
    flags = UnitFlags(folders=(Folder("-I", str(folder / "include")),))
    return preprocess(str(folder / "a.c"), text, flags, Options(compiler="gcc")), given


@pytest.mark.parametrize(
    ("include", "kind"),
    [
        (b'"pipe.h"', "it is a pipe"),
        (b'"link.h"', "it is a pipe"),
        (b"<far.h>", "it is a pipe"),
        (b'"include/far.h"', "it is a pipe"),
        (b'"/dev/zero"', "it is a device"),
    ],
)
def test_it_is_left_out_with_one_sentence(folder: Path, include: bytes, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b'#include "plain.h"\n  # include ' + include + b"\n" + AFTER
    result, given = result_of(folder, text, monkeypatch)
    (message,) = result.messages
    assert kind in message.text
    assert message.line == 2
    assert b"int a[4];" in result.text
    assert b"int plain;" in result.text
    assert len(given) == 1
    assert include not in given[0]
    assert doubt(result)  # nothing is proved of a text that a compiler would not have


def test_what_a_header_includes_is_seen_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, given = result_of(folder, b'#include "nested.h"\n' + AFTER, monkeypatch)
    (message,) = result.messages
    assert "The header 'pipe.h' is not read: it is a pipe (included by " in message.text
    assert (result.raw, given) == (True, [])
    assert doubt(result)


@pytest.mark.parametrize("include", [b'"plain.h"', b'"round.h"', b'"folder.h"', b'"absent.h"', b"<stdio.h>"])
def test_others_are_left_to_the_compiler(folder: Path, include: bytes) -> None:
    found = irregular_headers(b"#include " + include, str(folder), [str(folder / "include")], {})
    assert list(found) == []


def test_the_unsaved_text_of_a_header_counts(folder: Path) -> None:
    unsaved = {str(folder / "plain.h"): b'#include "pipe.h"\n', str(folder / "pipe.h"): b"int x;\n"}
    assert list(irregular_headers(b'#include "plain.h"', str(folder), [], unsaved)) == []
    del unsaved[str(folder / "pipe.h")]
    (found,) = irregular_headers(b'#include "plain.h"', str(folder), [], unsaved)
    assert (found.name, found.line, found.by) == ("pipe.h", 0, str(folder / "plain.h"))
