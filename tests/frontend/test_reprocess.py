"""Preprocessing again after edits gives what preprocessing from nothing gives, line by line, token by token."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from analysis.frontend.text.line_map import LineMap
from analysis.frontend.text.macros import read_macros
from analysis.frontend.text.preprocess import Preprocessed, preprocess
from analysis.frontend.text.reprocess import reprocess
from analysis.frontend.text.source_lines import TOKEN
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags

_PIECES = (
    "int a = 1;",
    "  a = F(a, b) + 2;",
    "\tb = G;",
    "F(1,",
    "  2)",
    "  + 3;",
    "#define LATE 1",
    "#define JOINED(x) x \\",
    "  + x",
    "#if 0",
    "#else",
    "#endif",
    "#ifdef LATE",
    "/* a comment",
    " that goes on */ c = 2;",
    "// the rest",
    'char *s = "F(1)/*";',
    "char d = '\"';",
    "here();",
    "W",
    "(3);",
    "int line = __LINE__;",
    "char *when = __DATE__ __TIME__ __TIMESTAMP__;",
    "",
    "",
    "a  =   b /* in between */ - 1 ; ",
    "}",
    "x\t=\ty ;",
    "d = '\\'' ; e = L'a';",
    "f = 1.5e+3 + .5f;",
    "stdin;",
    "assert(a &&",
    " b);",
    "a = G + b;",
    "  F(a, b) c;",
    "if (a == NULL && b) d();",
    "if (F(a, 1) == b) return W(c) + G;",
)
_TYPED = (*"abF G(,);\"'/*\\#\n\n \t1._", "/*", "*/", "//", "W", "__LINE__", "LATE", "\n\n", "#define Q", "== 2")
_HEAD = "#include <assert.h>\n#include <stddef.h>\n#define F(x, y) x y\n#define G 7\n#define W(x) x\n#define HERE __LINE__\n"


_NUMBER = re.compile(rb'(?<=a\.c", )\d+')  # of a line, behind the name of the file: for people to read


def _rows(preprocessed: Preprocessed) -> dict[tuple[bytes, int], list[bytes]]:
    """What is left of each line, by path and number."""
    lines: LineMap = preprocessed.line_map
    found: dict[tuple[bytes, int], list[bytes]] = {}
    at = 0
    for row in preprocessed.text.split(b"\n"):
        if row.strip() and not row.startswith(b"# "):
            line = lines.line_at(at)
            found.setdefault((line.path, line.number), []).append(_NUMBER.sub(b"LINE", _tokens(row)))
        at += len(row) + 1
    return found


def _tokens(row: bytes) -> bytes:
    return b" ".join(match.group() for match in TOKEN.finditer(row) if match.lastgroup != "space")


def _again(before: Preprocessed, text: str) -> Preprocessed:
    return reprocess(before, text.encode(), UnitFlags(), Options(), {})


def _edited(random: Random, text: str) -> str:
    kind, at = random.random(), random.randrange(len(_HEAD), len(text) + 1)
    if kind < 0.7:
        return text[:at] + random.choice(_TYPED) + text[at:]
    if kind < 0.9:
        return text[:at] + text[at + random.choice([1, 1, 1, 2, 8]) :]
    return text[:at] + random.choice(_PIECES) + "\n" + text[at:]


@pytest.mark.parametrize("seed", range(12))
def test_a_chain_of_edits_is_preprocessed_as_from_nothing(seed: int, tmp_path: Path) -> None:
    random, path = Random(seed), str(tmp_path / "a.c")
    text = _HEAD + "\n".join(random.choice(_PIECES) for _ in range(25)) + "\n"
    now = preprocess(path, text.encode(), UnitFlags(), Options())
    for _ in range(15):
        text = _edited(random, text)
        now = _again(now, text)
        expected = preprocess(path, text.encode(), UnitFlags(), Options())
        assert _rows(now) == _rows(expected), text
        assert now.source == expected.source
        assert [message.text for message in now.messages] == [message.text for message in expected.messages]


def test_a_carriage_return_by_itself_moves_no_edit_to_the_line_above(tmp_path: Path) -> None:
    path, text = str(tmp_path / "a.c"), _HEAD + "int a;\rint b;\nint c;\nint d;\n"
    now = _again(preprocess(path, text.encode(), UnitFlags(), Options()), text.replace("int d;", "int d; int e;"))
    assert b"\nint c;\nint d; int e;\n" in now.text


_PROGRAM = _HEAD + "int f(int a)\n{\n    int b = a;\n\n    b = F(a, + 1);\n    return b;\n}\nint g(void) { return HERE; }\n"
_PROGRAM += "int h(int a)\n{\n    a = F(a, + 1);\n\n    if (F(a, 1)) return G;\n    if (F(a, 2)) a = G;\n"
_PROGRAM += "    a *=\n        G;\n    return a;\n}\n"


@pytest.mark.parametrize(
    ("old", "new", "runs"),
    [
        ("int b = a;", "int b = a + 2;", False),
        ("int b = a;", "int b = 'a", False),
        ("int b = a;", "int b = a; /* kept */", False),
        ("int b = a;", "int b = G;", True),
        ("int b = a;", "int b = a; /* open", True),
        ("int b = a;\n\n", "int b = a;\n    b++;\n", False),
        ("int b = a;\n", "int b = a;\n\n", True),  # what HERE is below changes
        ("return b;\n}\nint g(void) { return HERE; }\n", "return b;\n\n}\n", True),
        ("int g(void) { return HERE; }\n", "\nint g(void) { assert(1); }\n", True),
        ("    b = F(a, + 1);", "    b = F(a, + 2);", True),
        ("    b = F(a, + 1);", "    b += F(a, + 1);", False),
        ("int b = a;", "int b = a, c = G, d = 1;", True),
        ("    b = F(a, + 1);", "    b = F(a, + 1) - 3;", True),
        ("    b = F(a, + 1);", "    b = F(a, + 1 - 3);", True),
        ("    b = F(a, + 1);", "    F(a, + 1);", False),
        ("int b = a;", "int b = a, c = G + a; /* G */", True),
        ("    return b;", "    (a);", False),
        ("    a = F(a, + 1);\n", "    a = F(a, + 1);\n\n", False),
        ("a = F(a, + 1);", "a =  F(a,    + 1); /* kept */", False),
        ("if (F(a, 1)) return G;", "if (F(a, 1))\n        return G;", False),
        ("if (F(a, 1)) return G;", "if (F(a, 1)) a++; else return G;", False),
        ("if (F(a, 1)) return G;", "if (F(a, 1)) a; else return G;", False),
        ("if (F(a, 2)) a = G;", "if (F(a, 2)) ++a = G;", True),  # that, and what is before, is in the arguments as well
        ("if (F(a, 1)) return G;", "if (F(a,\n     1)) return G;", True),
        ("    a *=\n        G;", "    a *= G;", False),
        ("    a *=\n        G;", "\n    a *= 3 +\n\n        G;", False),
        ("#define G 7", "#define G 8", True),
    ],
)
def test_the_compiler_is_run_where_it_must_be(
    old: str, new: str, runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "a.c")
    before = _again(preprocess(path, _PROGRAM.encode(), UnitFlags(), Options()), _PROGRAM + " ")  # macros are known from here on
    asked: list[str] = []

    def recorded(path: str, *rest: object) -> Preprocessed:
        asked.append(path)
        return preprocess(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("analysis.frontend.text.reprocess.preprocess", recorded)
    text = (_PROGRAM + " ").replace(old, new)
    assert text != _PROGRAM + " "
    after = _again(before, text)
    assert asked == [path] * runs
    assert _rows(after) == _rows(preprocess(path, text.encode(), UnitFlags(), Options()))


_BLANKS = _HEAD + (
    "/*\n * What stands\n * in many\n * lines\n *\n *\n *\n *\n *\n * isn't read\n * \"here\n # there\n */\n"
    "int f(int a)\n{\n    /* one line */\n    a = F(a,\n          /* + 2\n           */ + 1);  /* after\n it */ a++;\n\n"
    "#define LATE /* this\n goes on */ 1\n    // no /* comment\n\n\n\n\n\n\n\n\n\n\n    return a + LATE\n;\n}\n\n"
    "#if 0\nint c;\n\n/* left\n * out */\n#endif\nint d = G;\n#include <limits.h>\n\nint e; /*/ is\n one */ int g;\n"
    "#define TWO 1 \\\n  + 1\nchar h = '\"';\nint i = TWO;\n/* last\n one */\n"
)
_INSIDE = (
    "\n",
    "\n\n",
    "x",
    " ",
    "*",
    "/",
    "*/",
    "/*",
    "\n\n\n\n\n\n\n\n\n\n\n\n",
    "\\",
    "\\\n",
    "'",
    "#",
    "\n#define G 8\n",
    "//",
    "\t\n ",
)


@pytest.mark.parametrize("seed", range(6))
def test_edits_of_comments_and_blank_lines_are_preprocessed_as_from_nothing(seed: int, tmp_path: Path) -> None:
    random, path, text = Random(seed), str(tmp_path / "a.c"), _BLANKS
    now = preprocess(path, text.encode(), UnitFlags(), Options())
    places = [match.start() for match in re.finditer(r"[ \n*]", _BLANKS) if match.start() >= len(_HEAD)]
    for _ in range(20):
        at = random.choice([place for place in places if place <= len(text)])
        typed, erased = random.choice(_INSIDE), random.choice([0, 0, 1, 2, 5])
        text = text[:at] + typed * (erased < 2) + text[at + erased :]
        now = _again(now, text)
        expected = preprocess(path, text.encode(), UnitFlags(), Options())
        assert _rows(now) == _rows(expected), text
        assert [message.text for message in now.messages] == [message.text for message in expected.messages]
        if random.random() < 0.3 or expected.messages:
            text = _BLANKS
            now = _again(now, text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("isn't read", "isn't read by anyone"),
        ("isn't read\n", "isn't read\n * by\n * anyone\n"),
        (" *\n *\n *\n *\n *\n", "\n"),
        ("/* one line */", "/* one\n line */"),
        ("/* left\n * out */", "/* left\n *\n * out */"),
        ("return a", "\n\n   return a"),
        ("\n\n\n\n\n\n\n\n", "\n"),
        ("}\n\n", "}\n\n\n\n\n\n\n\n\n\n\n\n\n\n"),
        ("/*/ is\n", "/*/ is\n\n"),
        ("#define TWO", "\n\n#define TWO"),
    ],
)
def test_no_compiler_is_run_for_comments_and_blank_lines(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "a.c")
    before = _again(preprocess(path, _BLANKS.encode(), UnitFlags(), Options()), _BLANKS.replace("int d", "int  dd"))
    assert before.macros is not None
    text = _BLANKS.replace("int d", "int  dd").replace(old, new, 1)
    expected = preprocess(path, text.encode(), UnitFlags(), Options())
    monkeypatch.delattr("analysis.frontend.text.reprocess.preprocess")
    assert _rows(_again(before, text)) == _rows(expected)


def test_macros_that_depend_on_lines_are_found_through_others() -> None:
    definitions = b"#define A(x) B\n#define B __LINE__ + 1\n#define C 2\n#define CHECK(x) fail(#x, __FILE__, __LINE__)\n"
    macros = read_macros(definitions, b"int x;\n")
    assert macros.depends_on_lines(b"y = A(3);")
    assert not macros.depends_on_lines(b"y = C; CHECK(y); fail(0, __FILE__, __LINE__)")
    assert macros.depends_on_lines(b"y = __LINE__;")
    assert macros.may_be(b"C")
    assert macros.may_be(b"__FILE__")
    assert not macros.may_be(b"y")


def _defining(more: str) -> str:
    defined = "".join(f"#define M{number} {number} /* a\n comment */ + 1\n" for number in range(12))
    return f"{_HEAD}#include <stdio.h>\nint a = G;\n{defined}#undef G\nint b = M1;\n#define LINES F(1, \\\n 2)\n{more}"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (_defining("int c = LINES;\n"), True),
        (_defining("int c = F(1,\n#define LATE 3\n LATE);\n"), True),  # undefined behaviour (C11 6.10.3p11), and gcc does it
        (_defining('#include "not_there.h"\nint c = M3;\n'), False),  # the preprocessor complains
        (_defining('char *c = R"(\n#define TEXT 1\n)";\n'), False),  # what looks like a definition is none
        (_defining("#error no\nint c;\n"), False),
        (_defining("int c = 1;\n\nF(1,\n2;\n\n\n\n#define LATE 3\n"), False),  # a call without an end
    ],
)
def test_the_run_that_lists_macros_gives_the_same_text(text: str, known: bool, tmp_path: Path) -> None:
    path = str(tmp_path / "a.c")
    plain = preprocess(path, text.encode(), UnitFlags(), Options())
    listed = preprocess(path, text.encode(), UnitFlags(), Options(), with_macros=True)
    lines, expected = _rows(listed), _rows(plain)  # a definition in the arguments of a macro breaks a line in two
    assert {at: b" ".join(rows) for at, rows in lines.items()} == {at: b" ".join(rows) for at, rows in expected.items()}
    assert (listed.messages, listed.dependencies, listed.raw) == (plain.messages, plain.dependencies, plain.raw)
    assert listed.text.count(b'"<built-in>"') == plain.text.count(b'"<built-in>"')  # not one a macro
    assert (listed.macros is not None) == known
    assert listed.macros is None or {b"M11", b"LINES", b"G", b"stdin"} <= listed.macros.names


def test_a_reserved_word_that_was_printed_is_no_macro(tmp_path: Path) -> None:
    path = str(tmp_path / "a.c")
    text = 'void __check(int);\nint a = __LINE__;\nchar *b = "__TIME__";\n#define __SET 1\nint c = __SET;\n'
    text += "#undef __INCLUDE_LEVEL__\nint x__DATE__, __INCLUDE_LEVEL__;\n"
    macros = preprocess(path, text.encode(), UnitFlags(), Options(), with_macros=True).macros
    assert macros is not None
    may_be = [word for word in re.findall(r"_\w+", text) if macros.may_be(word.encode())]
    assert may_be == ["__LINE__", "__TIME__", "__SET", "__SET", "__INCLUDE_LEVEL__", "__DATE__", "__INCLUDE_LEVEL__"]
