"""The class: a header that flags, or it itself, call the system's, and that is the program's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.assumptions import LIBRARY_NAMES
from analysis.model.options import Options
from analysis.model.report import RuleVerdict

_MAIN = '#include "vendor.h"\nint main(int c, char **v) { int n = 2; if (access("x", 0)) n = 1; return 5 / n; }'
_BYTES = "\n#pragma scalar_storage_order big-endian\n"


def _main(folder: Path, header: str, *flags: str, place: str) -> RuleVerdict:
    """What is said of `main`, after provers were asked; the header is in that folder."""
    (folder / place).mkdir(exist_ok=True)
    (folder / place / "vendor.h").write_text(header)
    (folder / "a.c").write_text(_MAIN)
    database = folder / "compile_commands.json"
    database.write_text(json.dumps([{"directory": str(folder), "file": "a.c", "arguments": ["cc", *flags, "-c", "a.c"]}]))
    rule = "division-by-zero"
    checker = Checker(
        Options(rules=(rule,), engine="symbolic", proofs=True, everywhere=True, compile_commands=str(database)), jobs=1
    )
    checker.open([str(folder / "a.c")])
    checker.check()
    (function,) = (one for one in checker.prove().functions if one.name == "main")
    checker.close()
    return function.verdicts[rule]


@pytest.mark.parametrize(("flags", "place", "said"), [
    (("-isystem", "v"), "v", ""),
    (("-Iv",), "v", "#pragma GCC system_header\n"),
    ((), ".", "#pragma GCC system_header\n"),
])  # fmt: skip
def test_its_names_are_those_of_the_program(flags: tuple[str, ...], place: str, said: str, tmp_path: Path) -> None:
    found = _main(tmp_path, said + "int access(const char *, int);\n", *flags, place=place)
    assert found.verdict == "safe"
    assert any(one.startswith(LIBRARY_NAMES.sentence) for one in found.assumptions)


def test_its_pragmas_are_looked_at(tmp_path: Path) -> None:
    found = _main(tmp_path, "int access(const char *, int);" + _BYTES, "-isystem", "v", place="v")
    assert found.verdict == "unknown"


def test_the_system_s_are_trusted(tmp_path: Path) -> None:
    found = _main(tmp_path, "#include <unistd.h>\n", "-isystem", "v", place="v")
    assert found.verdict == "safe"
    assert not any(one.startswith(LIBRARY_NAMES.sentence) for one in found.assumptions)
