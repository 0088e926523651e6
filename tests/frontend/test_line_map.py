"""Line markers: which line of which file."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.frontend.text.line_map import Line, LineMap, escape, unescape

TEXT = b"""# 0 "a.c"
# 0 "<built-in>"
# 1 "a.c"
# 1 "b.h" 1
int b;
# 1 "/usr/include/s.h" 1 3 4
int s;


int t;
# 3 "b.h" 2
int c;
# 2 "a.c" 2
int a;
  p =
# 3 "a.c" 3 4
     NULL
# 3 "a.c"
         ;
"""


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (b"int b", Line(b"b.h", 1)),
        (b"int s", Line(b"/usr/include/s.h", 1)),
        (b"int t", Line(b"/usr/include/s.h", 4)),
        (b"int c", Line(b"b.h", 3)),
        (b"int a", Line(b"a.c", 2)),
        (b"p =", Line(b"a.c", 3)),
        (b"NULL", Line(b"a.c", 3)),
        (b";\n", Line(b"b.h", 1)),
    ],
)
def test_lines(wanted: bytes, line: Line) -> None:
    assert LineMap(TEXT, b"a.c").line_at(TEXT.index(wanted)) == line


def test_kinds_of_files() -> None:
    lines = LineMap(TEXT, b"a.c")
    assert lines.headers == (b"b.h", b"/usr/include/s.h")
    assert [lines.in_main_file(TEXT.index(word)) for word in (b"int b", b"int s", b"int a", b"NULL")] == [
        False,
        False,
        True,
        True,
    ]
    assert [lines.in_system_header(TEXT.index(word)) for word in (b"int b", b"int s", b"int c", b"NULL")] == [
        False,
        True,
        False,
        False,
    ]


def test_all_text_of_a_line() -> None:
    lines = LineMap(TEXT, b"a.c")
    assert [TEXT[start:end].strip() for start, end in lines.offsets_of(Line(b"a.c", 3))] == [b"p =", b"NULL", b";"]
    assert lines.offsets_of(Line(b"a.c", 99)) == []
    assert lines.next_line(Line(b"a.c", 2)) == 3
    assert lines.next_line(Line(b"a.c", 3)) is None
    assert lines.next_line(Line(b"unknown.h", 1)) is None


_ROWS = st.sampled_from([b"", b"  ", b" x;", b"#pragma p", b'# 3 "a.c"', b'# 1 "b.h" 1', b'# 5 "a.c" 2', b"a; b;"])


@given(st.lists(_ROWS, max_size=14), st.booleans())
def test_lines_that_are_looked_for_one_by_one_are_those_noted_at_once(rows: list[bytes], ends: bool) -> None:
    text = b"\n".join([b'# 1 "a.c"', *rows]) + b"\n" * ends
    noted = LineMap(text, b"a.c")
    for _ in range(50):
        noted.offsets_of(Line(b"a.c", 1))
    for number in range(1, 24):
        line = Line(b"a.c", number)
        assert LineMap(text, b"a.c").offsets_of(line) == noted.offsets_of(line)
        assert LineMap(text, b"a.c").next_line(line) == noted.next_line(line)


def test_raw_text_has_no_markers() -> None:
    lines = LineMap(TEXT, b"a.c", raw=True)
    assert lines.line_at(TEXT.index(b"int b")) == Line(b"a.c", 5)
    assert lines.headers == ()


def test_it_travels_between_processes() -> None:
    copy = pickle.loads(pickle.dumps(LineMap(TEXT, b"a.c")))
    assert copy.line_at(TEXT.index(b"int t")) == Line(b"/usr/include/s.h", 4)


@given(st.binary(min_size=1).map(lambda path: bytes(byte for byte in path if byte >= 0x20)))
def test_escaping_is_undone(path: bytes) -> None:
    assert unescape(escape(path)) == path


def test_octal_escapes() -> None:
    assert unescape(rb"caf\303\251 \"x\" \\ y") == 'café "x" \\ y'.encode()


@given(st.binary(max_size=200), st.integers(0, 200))
def test_any_text_has_lines(text: bytes, offset: int) -> None:
    line = LineMap(text, b"a.c").line_at(min(offset, len(text)))
    assert line.number >= 0
