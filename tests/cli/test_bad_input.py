"""Whatever a user gives: one clear sentence, the rest goes on, no traceback, the right exit code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.cli.main import main

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.c").write_text(BAD)


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["check", *arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert "defect of Everproof" not in captured.err
    return code, captured.out, captured.err


def sentences(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, said = check(capsys, "none.c")
    assert code == 2
    assert sentences(said) == ["none.c: error: There is no file or folder none.c: check the spelling."]
    code, out, _ = check(capsys, "none.c", "bad.c")
    assert code == 1
    assert "bad.c:4:5" in out


@pytest.mark.parametrize("data", [b"int f(void)\n{\n\0\0\0}\n", bytes(range(256)) * 40])
def test_a_binary_file(capsys: pytest.CaptureFixture[str], data: bytes) -> None:
    Path("binary.c").write_bytes(data)
    code, out, said = check(capsys, "binary.c")
    assert code == 2
    assert len(sentences(said)) == 1
    assert "binary.c" in said
    assert out.startswith("Nothing was checked")
    assert check(capsys, "binary.c", "bad.c")[0] == 1


def test_latin_1_text(capsys: pytest.CaptureFixture[str]) -> None:
    Path("latin.c").write_bytes(
        b'int f(void)\n{\n    /* \xe9t\xe9 */ const char *s = "\xe9"; int *p = 0;\n    return *p + *s;\n}\n'
    )
    code, out, said = check(capsys, "latin.c")
    assert code == 1
    assert said == ""
    assert "latin.c:4:" in out
    assert check(capsys, "--format", "json", "latin.c")[0] == 1


def test_a_file_name_that_is_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    name = b"caf\xe9.c".decode("utf-8", "surrogateescape")
    Path(name).write_text(BAD)
    for format_ in ("text", "json", "sarif"):
        code, out, _ = check(capsys, "--format", format_, name)
        assert code == 1
        assert "null-dereference" in out


def test_an_empty_file(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("", "\n\n", "/* nothing */\n", "#define X\n"):
        Path("empty.c").write_text(text)
        code, out, said = check(capsys, "empty.c")
        assert code == 0
        assert said == ""
        assert out.startswith("Nothing was checked")


def test_a_file_of_five_megabytes(capsys: pytest.CaptureFixture[str]) -> None:
    row = "    " + "1, " * 40 + "\n"
    Path("big.c").write_text("int table[] = {\n" + row * 40_000 + "};\n" + BAD)
    assert Path("big.c").stat().st_size > 5_000_000
    code, out, _ = check(capsys, "big.c")
    assert code == 1
    assert "big.c:40006:5" in out


def test_a_file_over_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    Path("huge.c").write_text("/*" + "x" * 16_000_000 + "*/\n")
    code, _, said = check(capsys, "huge.c", "bad.c")
    assert code == 1
    assert "huge.c: error: The file is not checked: it is larger than 16,000,000 bytes." in said


@pytest.mark.parametrize("depth", [400, 10_000])
@pytest.mark.parametrize("form", ["({})", "-({})", "!({})", "x+({})", "f({})", "p[{}]", "(int)({})", "x?x:({})"])
def test_a_deeply_nested_expression(capsys: pytest.CaptureFixture[str], form: str, depth: int) -> None:
    before, after = form.split("{}")
    expression = before * depth + "x" + after * depth
    Path("deep.c").write_text(f"int f(int x);\nint g(int x, int *p)\n{{\n    return {expression};\n}}\n")
    code, out, _ = check(capsys, "deep.c", "bad.c")
    assert code == 1
    assert "bad.c:4:5" in out


def test_deeply_nested_statements(capsys: pytest.CaptureFixture[str]) -> None:
    for before, after in (("{", "}"), ("if (x) {", "}"), ("while (x) ", ""), ("if (x) ; else ", "")):
        text = before * 10_000 + ";" + after * 10_000
        Path("deep.c").write_text(f"int g(int x)\n{{\n    {text}\n    return x;\n}}\n")
        assert check(capsys, "deep.c", "bad.c")[0] == 1


def test_a_missing_header(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.c").write_text('#include "nope.h"\n' + BAD)
    code, out, said = check(capsys, "a.c")
    assert code == 1
    assert sentences(said) == ["a.c:1: warning: The header 'nope.h' was not found; what it declares is not known."]
    assert "a.c:5:5" in out


def fake_compiler(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("bin").mkdir()
    Path("bin/gcc").write_text("#!/bin/sh\n" + script)
    Path("bin/gcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(Path("bin").absolute()), prepend=":")


def test_a_compiler_that_fails(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    fake_compiler("echo 'internal error' >&2\nexit 4\n", monkeypatch)
    code, out, said = check(capsys, "bad.c")
    assert code == 1
    assert len(sentences(said)) == 1
    assert "internal error" in said
    assert "bad.c:4:5" in out


def test_a_compiler_that_hangs_is_ended_by_the_timeout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler("while :; do read line; done\n", monkeypatch)
    code, out, said = check(capsys, "--timeout", "0.5", "--strict", "bad.c")
    assert code == 3
    assert "--timeout" in said
    assert out.startswith("Nothing was checked")


@pytest.mark.parametrize("text", ["class A { int x; };", "class A { int x; }; class B { int y; };", "int f( {"])
def test_a_text_of_which_nothing_is_c_does_not_pass(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Path("other.c").write_text(f"{text}\n")
    code, out, said = check(capsys, "other.c")
    assert code == 2
    assert out.startswith("Nothing was checked")
    assert "This text does not parse and is not checked." in said


@pytest.mark.parametrize("text", ["x;", "if (1) { }", "f();", "return 1;", "3;"])
def test_text_between_functions_is_named_in_words_of_c(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Path("between.c").write_text(f"{text}\nint main(void) {{ return 0; }}\n")
    _, out, _ = check(capsys, "between.c")
    assert ": it contains text outside functions that is no declaration, which is not supported\n" in out
    assert not re.search("identifier|statement|expression|literal", out)


def test_no_compiler(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    code, _, said = check(capsys, "bad.c")
    assert code == 1
    assert "No C compiler was found" in said


@pytest.mark.parametrize("text", ["name: [", "name: x\n", "- 1\n", "\0", "a: &x [1]\nb: *x\n", "!!python/object:os.system {}\n"])
def test_a_wrong_rule_file(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Path("rules").mkdir()
    Path("rules/mine.yaml").write_text(text)
    Path("good.c").write_text("int f(void)\n{\n    return 0;\n}\n")
    code, out, said = check(capsys, "--rules-dir", "rules", "good.c")
    assert code == 2
    assert len(sentences(said)) == 1
    assert said.startswith("rules/mine.yaml: error: ")
    assert "1 function in 1 file checked" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--frobnicate"],
        ["--format", "xml"],
        ["--timeout", "soon"],
        *(
            [option, value]
            for option in ("--timeout", "--task-timeout")
            for value in ("nan", "inf", "-1", "0", "1e400", "1e9", "")
        ),
        *(["--jobs", value] for value in ("-1", "1000000", "1.5", "nan", "")),
        ["--jobs", "0"],
        ["--engine", "summaries"],
        ["--engine", "magic"],
        ["--encoding", "reals"],
        ["--store", "bad.c"],
        ["--store", "."],
        ["-p", "nowhere.json"],
        ["-I", "nowhere"],
        ["--baseline", "nowhere.json"],
        ["--output", "nowhere/out.json"],
        ["--write-baseline", "nowhere/out.json"],
    ],
)
def test_a_wrong_option(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    code, out, said = check(capsys, *arguments, "bad.c")
    assert code == 2
    assert out == ""
    assert len(sentences(said)) == 1
    assert said.startswith("everproof: ")


@pytest.mark.parametrize("arguments", [["--rule", "no-such-rule"], ["--entry", "no_such_function"], ["--rules-dir", "nowhere"]])
def test_a_name_that_means_nothing(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    Path("good.c").write_text("int f(void)\n{\n    return 0;\n}\n")
    code, _, said = check(capsys, *arguments, "good.c")
    assert code == 2
    assert len(sentences(said)) == 1
    assert arguments[1] in said


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"schema": 9, "everproof": "", "findings": []}'])
def test_a_wrong_baseline(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Path("known.json").write_text(text)
    code, out, said = check(capsys, "--baseline", "known.json", "bad.c")
    assert (code, out) == (2, "")
    assert len(sentences(said)) == 1


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"file": 3}]'])
def test_a_wrong_compile_commands_json(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Path("compile_commands.json").write_text(text)
    code, _, said = check(capsys, "bad.c")
    assert code == 1
    assert len(sentences(said)) == 1
    assert said.startswith("compile_commands.json: warning: ")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("gone", "There is no file gone"),
        ("source", "There is no file source/compile_commands.json"),
        ("/dev/null", "/dev/null is no regular file"),
    ],
)
def test_no_compile_commands_json_where_one_is_named(named: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("source").mkdir()
    code, out, err = check(capsys, "-p", named)
    assert (code, out) == (2, "")
    assert err.startswith(f"everproof: {said}: give ")


def test_the_folder_of_a_compile_commands_json(capsys: pytest.CaptureFixture[str]) -> None:
    Path("build").mkdir()
    Path("build/compile_commands.json").write_text('[{"directory": "..", "file": "bad.c", "command": "cc -c bad.c"}]')
    code, out, err = check(capsys, "-p", "build")
    assert (code, err) == (1, "")
    assert "bad.c:4:5" in out


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("[]", "The compilation database has no entries. The files are checked without a database."),
        (
            '[{"directory": ".", "file": "a.cc", "command": "c++ a.cc"}]',
            "known.json lists no C file (*.c): nothing to check there.",
        ),
    ],
)
def test_a_compile_commands_json_without_a_c_file(entries: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.c").unlink()
    Path("good.c").write_text("int f(void)\n{\n    return 0;\n}\n")
    Path("known.json").write_text(entries)
    code, _, err = check(capsys, "-p", "known.json")
    assert (code, sentences(err)) == (2, [f"known.json: error: {said}"])


def test_no_command_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Usage: everproof")
    assert captured.err.count("\n") > 10


@pytest.mark.parametrize("text", ["/* never ended\nint f(void) { return 1; }\n", "#error no\n", '#define A "\n#if A\n'])
def test_a_file_of_which_only_an_error_of_the_preprocessor_is_left(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("cut.c").write_text(text)
    code, out, said = check(capsys, "cut.c")
    assert code == 2
    assert "The preprocessor reports: " in said
    assert out.startswith("Nothing was checked")


@pytest.mark.parametrize("text", ["", "\n", "int x;\n", "/* a comment */\n", "#define A 1\n"])
def test_a_file_without_functions_is_no_failure(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("none.c").write_text(text)
    code, out, said = check(capsys, "none.c")
    assert (code, said) == (0, "")
    assert out.startswith("Nothing was checked")


def test_a_link_to_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("link.c").symlink_to("link.c")
    code, _, said = check(capsys, "link.c")
    assert code == 2
    assert sentences(said) == ["link.c: error: There is no file or folder link.c: it is a symbolic link that leads to nothing."]


def test_a_folder_without_rules(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    code, _, said = check(capsys, "bad.c", "--rules-dir", "mine")
    assert code == 1
    assert sentences(said) == ["mine: note: There are no rule files (*.yaml, *.yml) in this folder."]


def test_text_that_is_no_c(capsys: pytest.CaptureFixture[str]) -> None:
    Path("prose.c").write_text("It was a dark { and stormy night; the rain ( fell in torrents.\n" * 20)
    code, _, _ = check(capsys, "prose.c")
    assert code == 2


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = f"{sys.executable} -m analysis.cli.main check --format json bad.c | head -c 1"
    done = subprocess.run(script, shell=True, capture_output=True, timeout=60)
    assert done.stdout == b"{"
    assert done.stderr == b""


def test_the_name_of_a_rule_that_was_probably_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "null-deref"]) == 2
    assert "There is no rule named null-deref; the nearest is null-dereference, and" in capsys.readouterr().err


def test_of_many_warnings_the_first_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    Path("many.c").write_text("".join(f'#include "none{number}.h"\n' for number in range(30)) + BAD)
    code, out, said = check(capsys, "many.c")
    assert code == 1
    assert "many.c:34:5" in out
    *first, last = sentences(said)
    assert len(first) == 20
    assert "none0.h" in first[0]
    assert last == "warning: 10 more warnings are not printed; `everproof check --format json` has all of them."


def test_errors_are_printed_beside_many_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    Path("many.c").write_text("".join(f'#include "none{number}.h"\n' for number in range(30)) + BAD)
    _, _, said = check(capsys, "many.c", "none.c")
    assert "none.c: error: There is no file or folder none.c: check the spelling." in sentences(said)
