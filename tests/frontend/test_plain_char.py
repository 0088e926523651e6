"""Whether `char` is signed goes by the flags of each file (C11 6.2.5p15; GCC manual, "Options Controlling C Dialect").

Class: values of type `char` above 127, in constants, in string literals and in memory.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.frontend.compiler.compiler_flags import load_compile_commands, read_flags
from analysis.frontend.compiler.meaning_flags import OTHER_FLAGS, flags_doubt, has_signed_char
from analysis.model.c_types import CHAR, PLAIN_UNSIGNED_CHAR
from analysis.model.options import Options
from analysis.session.units.file_building import build

TEXT = """\
struct s { char c; };
int main(void)
{
    char c = -1, a[2] = "\\xff";
    const char *text = "\\xff";
    struct s s = { -1 };
    int all = (c == 255) + (a[0] == 255) + (text[0] == 255) + ('\\xff' == 255) + (s.c == 255) + ((signed char)c == -1);
    return 10 / (all == SIX);
}
"""


def verdict(folder: Path, files: dict[str, tuple[str, str]]) -> str:
    """What is known of divisions in `main`, in a program of files, given as flags and text."""
    commands = []
    for name, (flag, text) in files.items():
        (folder / name).write_text(text)
        commands.append({"directory": str(folder), "file": name, "arguments": ["cc", *flag.split(), "-c", name]})
    database = folder / "compile_commands.json"
    database.write_text(json.dumps(commands))
    given = Options(rules=("division-by-zero",), engine="symbolic", proofs=True, everywhere=True, compile_commands=str(database))
    checker = Checker(given, jobs=1)
    checker.open([])
    checker.check()
    (main,) = [one for one in checker.prove().functions if one.name == "main"]
    return main.verdicts["division-by-zero"].verdict


@pytest.mark.parametrize(
    ("flag", "all_"), [("", 1), ("-funsigned-char", 6), ("-fno-signed-char", 6), ("-funsigned-char -fsigned-char", 1)]
)
def test_characters_have_the_values_of_the_flag(tmp_path: Path, flag: str, all_: int) -> None:
    assert verdict(tmp_path, {"a.c": (flag, TEXT.replace("SIX", str(all_)))}) == "safe"


def test_characters_do_not_have_the_values_of_the_other_flag(tmp_path: Path) -> None:
    assert verdict(tmp_path, {"a.c": ("-funsigned-char", TEXT.replace("SIX", "1"))}) != "safe"


RESULT = "char f(void) { return -1; }\n", "char f(void);\nint main(void) { return 10 / (f() == VALUE); }\n"
GLOBAL = "char c = -1;\n", "extern char c;\nint main(void) { return 10 / (c == VALUE); }\n"
BEHIND = "void f(char *p) { *p = -1; }\n", "void f(char *p);\nint main(void) { char c = 0; f(&c); return 10 / (c == VALUE); }\n"


@pytest.mark.parametrize("texts", [RESULT, GLOBAL, BEHIND], ids=["result", "global", "pointer"])
def test_what_one_file_writes_another_reads_by_its_own_flag(tmp_path: Path, texts: tuple[str, str]) -> None:
    """Compiled, `main` sees -1."""
    one, other = texts
    assert verdict(tmp_path, {"a.c": ("-funsigned-char", one), "b.c": ("", other.replace("VALUE", "255"))}) != "safe"


def test_the_last_flag_counts() -> None:
    assert not has_signed_char(read_flags(["-fsigned-char", "-O2", "-fno-signed-char"], "/p"))
    assert has_signed_char(read_flags(["-funsigned-char", "-fno-unsigned-char"], "/p"))


def test_a_file_with_both_flags_is_doubted(tmp_path: Path) -> None:
    commands = [["cc", "-c", "a.c"], ["cc", "-funsigned-char", "-c", "a.c"]]
    database = tmp_path / "compile_commands.json"
    database.write_text(json.dumps([{"directory": str(tmp_path), "file": "a.c", "arguments": one} for one in commands]))
    (flags,) = load_compile_commands(str(database)).units.values()
    assert flags_doubt(flags, Options()) == OTHER_FLAGS


def test_the_same_text_under_another_flag_is_lowered_again(tmp_path: Path) -> None:
    path = str(tmp_path / "a.c")
    text = b"int f(char c) { return c; }\n"
    signed = build(path, text, read_flags([], "/p"), Options(), {})
    again = build(path, text, read_flags(["-fsigned-char"], "/p"), Options(), {}, signed)
    other = build(path, text, read_flags(["-funsigned-char"], "/p"), Options(), {}, signed)
    assert again.unit is signed.unit
    assert [one.unit.functions[0].cfa.parameters[0].type for one in (signed, other)] == [CHAR, PLAIN_UNSIGNED_CHAR]
