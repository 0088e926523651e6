"""Files that a build compiles with several flags, as for a library and a program: one file where all give the same text.

Class: a text that only the flags that do not count make another one, from the start or after an edit.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report

FLAGS = (["-Ione"], ["-Itwo", "-DSECOND", "-fPIC"])
SAME = '#include "d.h"\n\nint main(void) { return 10 / value(); }\n'
HEADER = "static int value(void) { return 1; }\n"
SECOND = "#ifdef SECOND\n#define ONE 0\n#else\n#define ONE 1\n#endif\n"
# what is written, a file or the unsaved text of one, and whether the texts are the same then
STEPS: dict[str, tuple[dict[str, str], bool]] = {
    "the texts are the same": ({}, True),
    "a line that only one of the texts has": ({"a.c": SAME.replace("\n\n", "\n#ifdef SECOND\nint x;\n#endif\n")}, False),
    "a line between others that only one of the texts has": (
        {"a.c": SAME.replace("\n\n", "\n#ifndef SECOND\n\n#endif\n")},
        True,
    ),
    "text in that line": ({"a.c": SAME.replace("\n\n", "\n#ifndef SECOND\nint x;\n#endif\n")}, False),
    "a macro that is two things": ({"a.c": SECOND + SAME}, True),
    "its name": ({"a.c": SECOND + SAME.replace("10", "ONE")}, False),
    "a comment": ({"a.c": SAME.replace("10", "/* ONE */ 10")}, True),
    "another header for the second": ({"two/d.h": HEADER.replace("1", "0")}, False),
    "that header, changed": ({"two/d.h": HEADER.replace("1", "2")}, False),
    "another header for both": ({"d.h": HEADER}, True),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two", "usual"):
        (tmp_path / folder).mkdir()
    _write({"a.c": SAME, "usual/d.h": HEADER})
    entries = [
        {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", *flags, "-Iusual", "-c", "a.c"]} for flags in FLAGS
    ]
    _write({"compile_commands.json": json.dumps(entries)})


def _write(texts: dict[str, str]) -> None:
    for path, text in texts.items():
        Path(path).write_text(text)


def _opened() -> Checker:
    checker = Checker(Options(rules=("division-by-zero",)))
    checker.open([])
    return checker


def _is_understood(report: Report) -> bool:
    said = any("compiled with different flags" in message.text for message in report.messages)
    reasons = [verdict.reason or "" for function in report.functions for verdict in function.verdicts.values()]
    assert reasons
    assert all(("compiles with other flags" in reason) == said for reason in reasons)
    return not said


@pytest.mark.parametrize("is_unsaved", [False, True], ids=["on the disk", "unsaved"])
def test_after_each_edit_it_is_known_whether_the_texts_are_the_same(is_unsaved: bool) -> None:
    checker = _opened()
    for name, (texts, is_same) in STEPS.items():
        if is_unsaved:
            for path, text in texts.items():
                checker.change(path, text)
        else:
            _write(texts)
            assert _is_understood(_opened().check()) == is_same, name
        assert _is_understood(checker.check()) == is_same, name


def test_without_a_preprocessor_it_is_not_known_what_the_flags_do() -> None:
    _write({"a.c": "int main(int d, char **v) { return 10 / d; }\n"})
    checker = Checker(Options(rules=("division-by-zero",), compiler="none"))
    checker.open([])
    assert not _is_understood(checker.check())


def test_what_is_said_of_several_files_is_said_once() -> None:
    entries = [
        {"directory": ".", "file": f"{name}.c", "arguments": ["cc", f"-DD={d}", f"{name}.c"]} for name in "xyz" for d in (1, 2)
    ]
    _write({f"{name}.c": f"int {name}(void) {{ return 10 / D; }}\n" for name in "xyz"})
    entries.append({"directory": ".", "file": "plain.c", "arguments": ["cc", "plain.c"]})
    _write({"compile_commands.json": json.dumps(entries), "plain.c": "int plain(int d) { return 10 + d; }\n"})
    report = _opened().check()
    (message,) = report.messages
    assert message.text.startswith("'x.c' and 2 more are compiled with different flags")
    reasons = {function.name: function.verdicts["division-by-zero"].reason for function in report.functions}
    assert reasons["x"] == "it contains text that compile_commands.json compiles with other flags, too, which is not supported"
    assert reasons["plain"] == (
        "it is in a program with x.c, which has text that compile_commands.json compiles with other flags, too"
    )
