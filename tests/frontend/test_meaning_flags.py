"""Flags that could change the meaning of a program cast doubt on their file; usual flags do not.

Class: flags of a compiler that change neither the text nor the types.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.frontend.compiler.compiler_flags import load_compile_commands, read_flags
from analysis.frontend.compiler.meaning_flags import flags_doubt
from analysis.model.options import Options

USUAL = (
    "-c -o a.o a.c -O2 -g -g3 -ggdb -Wall -Wextra -Werror=format -Wno-unused -Wl,-z,now -pedantic -pipe -pthread -std=gnu11 -ansi"
    " -fPIC -fno-plt -fno-strict-aliasing -fwrapv -ftrapv -fno-strict-overflow -fno-common -ffunction-sections -fdata-sections"
    " -fstack-protector-strong -fstack-clash-protection -fcf-protection -fvisibility=hidden -fdiagnostics-color=always -flto=auto"
    " -fno-omit-frame-pointer -fsanitize=address,undefined -fsigned-char -fno-unsigned-char -fno-short-enums -march=native -m64"
    " -Wl,--as-needed,-O1,-rpath=/x -mbmi2 -mfma -mno-avx -fexceptions -fno-math-errno -fno-sanitize=alignment"
    " -mtune=generic -msse4.2 -mno-red-zone -MD -MT a.o -MF a.d -MMD -DNDEBUG -Iinclude -nostdinc -fno-builtin"
    " -funsigned-char -fno-signed-char -mcmodel=large -fcf-protection=full -fnon-call-exceptions -xc"
    " -fno-sanitize-recover=all -fsanitize-undefined-trap-on-error -fno-merge-all-constants -fmerge-constants"
    " -Wa,--noexecstack -Wa,-adhln=a.lst -Wa,-g,--fatal-warnings,-mrelax-relocations=no -Wa,-march=armv8-a+crc"
    " -fprofile-arcs -ftest-coverage --coverage -fno-asynchronous-unwind-tables -fmacro-prefix-map=a=b -lm -L. -x c --param x=1"
)


@pytest.mark.parametrize("flag", USUAL.split())
def test_the_list_has_the_usual_flags(flag: str) -> None:
    flags = read_flags(USUAL.split(), "/p")
    assert flag not in flags.doubtful
    assert flags_doubt(flags, Options()) == ""


@pytest.mark.parametrize(
    "flags",
    [
        "-fshort-enums",
        "-fpack-struct",
        "-fpack-struct=2",
        "-m32",
        "-m64 -m32",
        "-mx32",
        "-malign-double",
        "-fshort-wchar",
        "-fshort-double",
        "-ffast-math",
        "-Ofast",
        "-fgnu89-inline",
        "-fms-extensions",
        "-fplan9-extensions",
        "-fopenmp",
        "-mlong-double-64",
        "-m128bit-long-double",
        "-mms-bitfields",
        "-fexec-charset=EBCDIC",
        "-finstrument-functions",
        "-fsomething-new",
        "-msomething-new",
        "-Wp,-DX",
        "--target=arm-none-eabi",
        "-target arm-none-eabi",
        "--sysroot=/other",
        "-isysroot /other",
        "-Xclang -fsomething",
        "-Xpreprocessor -DX",
        "-x c++",
        "-std=c++17",
        "@more",
        "-D1",
        "-march=armv8-a",
        "-mcpu=cortex-m4",
        "-mavx512vnni",
        "-mshstk",
        "-fsanitize=hwaddress",
        "-fsanitize=address -fno-sanitize=address",
        "-Wl,--wrap=malloc",
        "-Wl,-z,now,--defsym,a=b",
        "-Wl,@more",
        "-Xlinker --wrap=malloc",
        "-wrapper strace",
        "-ffreestanding",
        "-nostartfiles",
        "-nodefaultlibs",
        "-nostdlib",
        "-fmerge-all-constants",
        "-fsanitize-coverage=trace-pc",
        "-pg",
        "-mfentry",
        "-Wa,--defsym,a=1",
        "-Wa,--noexecstack,--defsym=a=1",
        "-Wa,more.s",
        "-Xassembler --defsym",
        "-T script.ld",
        "-Tscript.ld",
        "-mtune=core2",
        "-mcmodel=kernel",
        "-fcf-protection=check",
    ],
)
def test_what_is_not_on_the_list_is_doubted(flags: str) -> None:
    assert flags_doubt(read_flags(flags.split(), "/p"), Options()).startswith("the compiler flag ")


@pytest.mark.parametrize(
    ("flag", "macro"),
    [
        ("-mbmi2", "__BMI2__"),
        ("-fsanitize=address", "__SANITIZE_ADDRESS__"),
        ("-fexceptions", "__EXCEPTIONS"),
        ("-fcf-protection", "__CET__"),
        ("-mcmodel=large", "__code_model_large__"),
        ("-mtune=core2", "__tune_core2__"),
        ("-fnon-call-exceptions", "__EXCEPTIONS"),
        ("-ansi", "__STRICT_ANSI__"),
    ],
)
def test_macros_of_usual_flags_choose_the_text(tmp_path: Path, flag: str, macro: str) -> None:
    """A flag that defines a macro either reaches the preprocessor or casts doubt."""
    source, database = tmp_path / "a.c", tmp_path / "compile_commands.json"
    source.write_text(f"int main(void) {{\nint d = 1;\n#ifdef {macro}\nd = 0;\n#endif\nreturn 10 / d; }}\n")
    database.write_text(json.dumps([{"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", flag, "-c", "a.c"]}]))
    given = Options(rules=("division-by-zero",), engine="symbolic", proofs=True, everywhere=True, compile_commands=str(database))
    checker = Checker(given, jobs=1)
    checker.open([str(source)])
    checker.check()
    (function,) = checker.prove().functions
    assert function.verdicts["division-by-zero"].verdict != "safe"


def test_the_size_of_words_fits_the_data_model() -> None:
    assert flags_doubt(read_flags(["-m32"], "/p"), Options(data_model="ILP32")) == ""
    assert flags_doubt(read_flags(["-m64"], "/p"), Options(data_model="ILP32"))
    assert flags_doubt(read_flags(["-m32", "-m64"], "/p"), Options()) == ""


@pytest.mark.parametrize(("flag", "is_proved"), [("-O2", True), ("-fshort-enums", False)])
def test_nothing_is_proved_under_a_doubtful_flag(tmp_path: Path, flag: str, is_proved: bool) -> None:
    """With enumerations of four bytes the program is safe; compiled with -fshort-enums it divides by zero."""
    source, database = tmp_path / "a.c", tmp_path / "compile_commands.json"
    source.write_text("enum e { A };\nint main(void) { int d = sizeof(enum e) == 4 ? 1 : 0; return 10 / d; }\n")
    database.write_text(json.dumps([{"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", flag, "-c", "a.c"]}]))
    assert load_compile_commands(str(database)).messages == ()
    given = Options(rules=("division-by-zero",), engine="symbolic", proofs=True, everywhere=True, compile_commands=str(database))
    checker = Checker(given, jobs=1)
    checker.open([str(source)])
    checker.check()
    (function,) = checker.prove().functions
    verdict = function.verdicts["division-by-zero"]
    assert verdict.verdict == ("safe" if is_proved else "unknown")
    assert is_proved or flag in verdict.reason


FIRST = {"file": "a.c", "arguments": ["cc", "-DD=1", "-c", "a.c"]}
SECONDS = {
    "the same flags": FIRST,
    "flags that change no text": {"file": "a.c", "arguments": ["cc", "-Isub", "-fPIC", "-DPIC", "-DD=1", "-c", "a.c"]},
    "the same text of another standard": {"file": "a.c", "arguments": ["cc", "-std=c90", "-DD=1", "-c", "a.c"]},
    "the same text for another machine": {"file": "a.c", "arguments": ["cc", "-m32", "-DD=1", "-c", "a.c"]},
    "another macro": {"file": "a.c", "arguments": ["cc", "-DD=0", "-c", "a.c"]},
    "a symbolic link": {"file": "link.c", "arguments": ["cc", "-DD=0", "-c", "link.c"]},
    "a command": {"file": "./x/../a.c", "command": "cc -DD=0 -c a.c"},
}


@pytest.mark.parametrize("second", SECONDS)
def test_a_file_that_is_compiled_with_different_flags_is_several_programs(tmp_path: Path, second: str) -> None:
    """With the flags of the first entry the program is safe; with those of the second it divides by zero."""
    database = tmp_path / "compile_commands.json"
    (tmp_path / "a.c").write_text("int main(void) { int d = D; return 10 / d; }\n")
    (tmp_path / "link.c").symlink_to("a.c")
    entries = [{"directory": str(tmp_path), **entry} for entry in (FIRST, SECONDS[second], FIRST)]
    database.write_text(json.dumps(entries))
    given = Options(rules=("division-by-zero",), engine="symbolic", proofs=True, everywhere=True, compile_commands=str(database))
    checker = Checker(given, jobs=1)
    checker.open([str(tmp_path / "a.c")])
    checker.check()
    report = checker.prove()
    (function,) = report.functions
    verdict = function.verdicts["division-by-zero"]
    said = [message.text for message in report.messages]
    if second in ("the same flags", "flags that change no text"):
        assert (verdict.verdict, said) == ("safe", [])
    else:
        assert verdict.verdict == "unknown"
        assert "text that compile_commands.json compiles with other flags, too" in verdict.reason
        assert said == [
            "'a.c' is compiled with different flags, which give it another text: only the first counts, and nothing is proved."
        ]
