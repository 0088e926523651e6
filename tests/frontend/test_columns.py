"""Exact places in the user's files, through the real preprocessor.

In the sources, the place that is expected is between the marks `<<` and `>>`, which are taken out before preprocessing.
"""

import re
from pathlib import Path

import pytest

from analysis.frontend.text.preprocess import preprocess
from analysis.frontend.text.source_columns import FileMap
from analysis.model.options import Options
from analysis.model.places import Place, Position, Range
from analysis.model.unit_flags import UnitFlags


def marked(text: str) -> tuple[str, Range]:
    """The text without its marks, and the range between them."""
    before, rest = text.split("<<")
    inside, after = rest.split(">>")

    def position(prefix: str) -> Position:
        return Position(prefix.count("\n") + 1, len(prefix) - (prefix.rfind("\n") + 1) + 1)

    return before + inside + after, Range(position(before), position(before + inside))


def maps(path: Path, text: bytes, overlay: dict[str, bytes] | None = None, **options: str) -> FileMap:
    return FileMap(preprocess(str(path), text, UnitFlags(), Options(**options), overlay or {}), overlay)  # type: ignore[arg-type]


def find(file_map: FileMap, wanted: str) -> int:
    """The offset of a text in the preprocessed text, as whole tokens, line markers apart."""
    text = re.sub(rb"(?m)^# .*$", lambda marker: b" " * len(marker.group()), file_map.preprocessed.text)
    match = re.search(rb"(?<!\w)" + re.escape(wanted.encode()) + rb"(?!\w)", text)
    assert match is not None
    return match.start()


def place_of(file_map: FileMap, wanted: str) -> Place:
    """The place of a text in the preprocessed text."""
    at = find(file_map, wanted)
    return file_map.place(at, at + len(wanted.encode()))


MAX = "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"


@pytest.mark.parametrize(
    ("source", "wanted", "macro"),
    [
        ("int   x\t=  <<y>>;", "y", None),
        ("int x; int <<y  =  2>>;", "y = 2", None),
        ("#define A 42\nint x = <<A>>; int y;", "42", "A"),
        ("#define A 42\nint x = A; int <<y>>;", "y", None),
        ("#define A 42\nint x = <<A + 1>>;", "42 + 1", None),
        ("#define D(p) (*(p))\nint x =   <<D(q + 1)>>;", "*(q + 1)", "D"),
        ("#define D(p) (*(p))\nint x =   D(<<q + 1>>);", "q + 1", None),
        (MAX + "int x = MAX(a, b), y = <<MAX(c, d)>>;", "(c) > (d)", "MAX"),
        (MAX + "int x = MAX(MAX(a, <<k>>), b);", "k", None),
        (MAX + "int x = <<MAX(MAX(a, k), b)>>;", "((a) > (k) ? (a) : (k))) > (b)", "MAX"),
        (MAX + "int x = MAX(a,\n   <<bb>>) + z;", "bb", None),
        (MAX + "int x = <<MAX(a,\n   bb)>> + z;", "(bb) ?", "MAX"),
        (MAX + "int x = MAX(a,\n   bb) + <<z>>;", "z", None),
        (MAX + "int x = MAX(a, /* one ) */\n\n   bb // two )\n  ) + <<z>>;", "z", None),
        ("int f(int a,\n   int <<b>>,\n int c);", "b", None),
        ("int x = 1 + \\\n   <<y>>;", "y", None),
        ("/* a\n b */ int <<x>>;", "x", None),
        ("int x; /* a ( */ int <<y>>; // z", "y", None),
        ("#if 0\nint w(\n#endif\nint <<x>>;", "x", None),
        ("#include <stddef.h>\nvoid *p = <<NULL>>; int after;", "((void *)0)", "NULL"),
        ("#include <stddef.h>\nvoid *p = NULL; int <<after>>;", "after", None),
        ("#define N ((void *)0)\nint f(int *p) { if (<<p == N>>) p = g(1); }", "p == ((void *)0)", None),
        ("#define N ((void *)0)\nint f(int *p) { h(p, <<N>>); p = g(1); }", "((void *)0)", "N"),
        ("#define CALL(f, ...) f(__VA_ARGS__)\nint x = CALL(g, 1, <<h(2)>>);", "h(2)", None),
        ("#define S(x) #x\nchar *s = <<S(a b)>>;", '"a b"', "S"),
        ("#define J(a, b) a##b\nint <<J(x, 1)>> = 2;", "x1", "J"),
        ("#define f(x) f(x, 1)\nint y = f(a) + <<z>>;", "z", None),
        ("#define EMPTY\nEMPTY int EMPTY <<x>> EMPTY;", "x", None),
        ("int x\f;\v int <<y>>;", "y", None),
        ("int <<änd>>;", "änd", None),
        ('char *s = "äöü"; int <<y>>;', "y", None),
        ('char *s = "𝄞"; int <<y>>;', "y", None),
        ("int x;\r\nint <<y>>;\r\n", "y", None),
        ("int <<y>>", "y", None),
        ("#define DO(x) do { x; } while (0)\nvoid f(int *p) { DO(<<*p = 1>>); }", "*p = 1", None),
        ("#define A(x) B(x)\n#define B(x) (x + 1)\nint x = <<A(2)>>;", "2 + 1", "A"),
        ("#define FN g\nint x = <<FN(1)>>;", "g(1)", "FN"),
        ("#define M(x) (x)\nint x = M\n(<<y>>);", "y", None),
    ],
)  # fmt: skip
def test_exact_places(tmp_path: Path, source: str, wanted: str, macro: str | None) -> None:
    text, expected = marked(source)
    file_map = maps(tmp_path / "a.c", text.encode())
    assert place_of(file_map, wanted) == Place(str(tmp_path / "a.c"), expected, macro)


def test_a_range_over_several_lines(tmp_path: Path) -> None:
    text, expected = marked(MAX + "void f(void) {\n  <<g(a,\n    MAX(b, c),\n    d)>>;\n}\n")
    file_map = maps(tmp_path / "a.c", text.encode())
    start, end = find(file_map, "g(a,"), find(file_map, "d)") + 2
    assert file_map.place(start, end) == Place(str(tmp_path / "a.c"), expected)


def test_places_in_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "inc").mkdir()
    header, expected = marked("\nint   <<h>>;\n")
    (tmp_path / "inc" / "b.h").write_text(header)
    source = b'#include "../inc/b.h"\nint a;\n'
    assert place_of(maps(tmp_path / "src" / "a.c", source), "h;") == Place(
        str(tmp_path / "inc" / "b.h"), Range(expected.start, Position(expected.end.line, expected.end.column + 1))
    )
    monkeypatch.chdir(tmp_path)
    relative = maps(Path("src/a.c"), source)
    assert place_of(relative, "h;").path == "inc/b.h"
    assert place_of(relative, "int a").path == "src/a.c"


def test_places_in_unsaved_headers(tmp_path: Path) -> None:
    (tmp_path / "b.h").write_text("int saved;\n")
    unsaved, expected = marked("int  x; int <<unsaved>>;\n")
    file_map = maps(tmp_path / "a.c", b'#include "b.h"\n', {str(tmp_path / "b.h"): unsaved.encode()})
    assert place_of(file_map, "unsaved") == Place(str(tmp_path / "b.h"), expected)


def test_line_directives(tmp_path: Path) -> None:
    grammar, expected = marked("%%\nrule { int <<x>>; }\n")
    (tmp_path / "g.y").write_text(grammar)
    file_map = maps(tmp_path / "a.c", b'int a;\n#line 2 "g.y"\n int x;\n#line 9 "none.y"\nint y;\n#line 6 "a.c"\nint z;')
    assert place_of(file_map, "x") == Place(str(tmp_path / "g.y"), expected)
    assert place_of(file_map, "y").path == str(tmp_path / "none.y")
    assert place_of(file_map, "y").range.start.line == 9
    assert not file_map.line_map.in_main_file(file_map.preprocessed.text.index(b"int x"))


def test_system_headers_are_known(tmp_path: Path) -> None:
    file_map = maps(tmp_path / "a.c", b"#include <stddef.h>\nvoid *p = NULL;\n")
    text, line_map = file_map.preprocessed.text, file_map.line_map
    assert line_map.in_system_header(text.index(b"size_t"))
    assert not line_map.in_system_header(text.index(b"((void *)0)"))
    assert line_map.in_main_file(text.index(b"((void *)0)"))


@pytest.mark.parametrize("text", [b"/* caf\xe9 */ int x;", b'char *s = "\xe9\xe8"; int x;', b"int y; char c = '\xe9'; int x;"])
def test_latin_1(tmp_path: Path, text: bytes) -> None:
    file_map = maps(tmp_path / "a.c", text)
    place = place_of(file_map, "x;")
    assert place.range.start == Position(1, text.index(b"x;") + 1)


def test_a_byte_order_mark_is_no_column(tmp_path: Path) -> None:
    assert place_of(maps(tmp_path / "a.c", b"\xef\xbb\xbfint x;"), "x").range.start == Position(1, 5)


@pytest.mark.parametrize("source", ["int   <<x>>;", "int a;\n\n  int <<b>>", "#define A 1\nint ä = <<A>>;\r\n", "<<int>> x;"])
def test_raw_text_has_its_own_columns(tmp_path: Path, source: str) -> None:
    text, expected = marked(source)
    file_map = maps(tmp_path / "a.c", text.encode(), compiler="none")
    start, end = len(source.split("<<")[0].encode()), len(source.split(">>")[0].replace("<<", "").encode())
    assert file_map.preprocessed.raw
    assert file_map.place(start, end) == Place(str(tmp_path / "a.c"), expected)


def test_every_place_is_inside_the_file(tmp_path: Path) -> None:
    source = (
        MAX + "#include <stdio.h>\nint f(int *p,\n int q) {\n  if (MAX(*p,\n q) == EOF) return MAX(q, 1);\n  return 0; }\n"
    ).encode()
    file_map = maps(tmp_path / "a.c", source)
    text = file_map.preprocessed.text
    lines = source.split(b"\n")
    for start in range(text.index(b"int f("), len(text)):
        for end in (start, start + 1, start + 9, len(text)):
            place = file_map.place(start, end)
            assert place.path == str(tmp_path / "a.c")
            assert place.range.start <= place.range.end
            assert 1 <= place.range.end.line <= len(lines)
            assert place.range.end.column <= len(lines[place.range.end.line - 1]) + 1
