"""Where members, bit-fields and elements are (`analysis.c.layout`), and that all engines read it there."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.c.layout import Layout
from analysis.model import c_types as t
from analysis.model.options import Engine
from tests.support.checked import checked


def layout(*members: t.Member, kind: str = "struct", model: t.DataModel = t.LP64) -> tuple[Layout, t.Record]:
    definition = t.RecordDefinition("struct s", kind, members)  # type: ignore[arg-type]
    inner = t.RecordDefinition("struct in", "struct", (t.Member("c", t.CHAR), t.Member("d", t.DOUBLE)))
    known = {"struct s": definition, "struct in": inner}
    return Layout(model, known.get), t.Record("struct", "struct s")


def test_records_are_padded() -> None:
    sizes, record = layout(t.Member("a", t.CHAR), t.Member("b", t.INT), t.Member("c", t.CHAR), t.Member("p", t.Pointer(t.VOID)))
    assert sizes.size(record) == 24
    assert [sizes.offset(record, name) for name in "abcp"] == [0, 4, 8, 16]
    assert sizes.alignment(record) == 8
    small, record = layout(t.Member("a", t.CHAR), t.Member("p", t.Pointer(t.VOID)), model=t.ILP32)
    assert small.size(record) == 8


def test_unions_overlap() -> None:
    sizes, record = layout(t.Member("a", t.Array(t.CHAR, 5)), t.Member("b", t.INT), kind="union")
    assert sizes.size(record) == 8
    assert sizes.offset(record, "b") == 0


def test_bit_fields_share_units() -> None:
    sizes, record = layout(t.Member("a", t.INT, 3), t.Member("b", t.INT, 29), t.Member("c", t.INT, 1))
    assert sizes.size(record) == 8
    assert sizes.offset(record, "a") is None


def test_where_bit_fields_are() -> None:
    members = [t.Member("a", t.INT, 3), t.Member("c", t.CHAR), t.Member("b", t.UNSIGNED_INT, 5), t.Member("", t.INT, 0)]
    sizes, record = layout(*members, t.Member("d", t.INT, 9), t.Member("", t.UNSIGNED_INT, 30), t.Member("e", t.CHAR))
    assert [sizes.bit_field(record, name) for name in "abcde"] == [0, 16, None, 32, None]
    assert (sizes.offset(record, "c"), sizes.offset(record, "e"), sizes.size(record)) == (1, 12, 16)


def test_members_of_anonymous_records() -> None:
    sizes, record = layout(t.Member("a", t.INT), t.Member("", t.Record("struct", "struct in")))
    assert sizes.offset(record, "d") == 16
    assert sizes.size(record) == 24


def test_incomplete_types_have_no_size() -> None:
    sizes, _ = layout()
    assert sizes.size(t.Record("struct", "struct unknown")) is None
    assert sizes.size(t.Array(t.INT, None)) is None
    assert sizes.size(t.Array(t.Array(t.INT, 3), 2)) == 24


def test_each_anonymous_record_has_its_start() -> None:
    one = t.RecordDefinition("struct one", "struct", (t.Member("b", t.INT),))
    two = t.RecordDefinition("union two", "union", (t.Member("c", t.CHAR), t.Member("d", t.DOUBLE), t.Member("e", t.INT, 3)))
    inner = [t.Record("struct", "struct one"), t.Record("union", "union two")]
    outer = t.RecordDefinition("struct s", "struct", (t.Member("a", t.INT), *(t.Member("", type_) for type_ in inner)))
    sizes = Layout(t.LP64, {"struct s": outer, "struct one": one, "union two": two}.get)
    record = t.Record("struct", "struct s")
    assert [sizes.start(record, "", type_) for type_ in inner] == [32, 64]
    assert [sizes.start(record, name, t.INT) for name in "abcde"] == [0, 32, 64, 64, 64]
    assert [sizes.offset(record, name) for name in "abcde"] == [0, 4, 8, 8, None]
    assert sizes.bit_field(record, "e") == 64
    assert sizes.start(record, "", t.Record("struct", "struct s")) is None


def test_only_the_last_member_can_be_an_array_of_no_length() -> None:
    open_ = t.Array(t.INT, None)
    sizes, record = layout(t.Member("n", t.CHAR), t.Member("a", open_))
    assert (sizes.size(record), sizes.offset(record, "a")) == (4, 4)
    sizes, record = layout(t.Member("a", open_), t.Member("b", t.INT))
    assert (sizes.size(record), sizes.offset(record, "b")) == (None, None)
    sizes, record = layout(t.Member("a", t.Record("struct", "struct unknown")), t.Member("b", t.INT))
    assert sizes.size(record) is None


def test_a_record_that_is_too_large_has_no_size() -> None:
    half = t.Array(t.CHAR, 1 << 62)
    sizes, record = layout(t.Member("a", half), t.Member("b", half))
    assert sizes.size(record) is None
    assert sizes.start(record, "b", half) is None


_ANONYMOUS = """
void reach_error(void);
struct s { int a; struct { int b; }; struct { int c; int d : 3; }; union { int e; char f; }; };
void set(struct s *p) { p->b = 2; p->c = 3; p->d = 1; p->e = 9; }
int main(void) { struct s s; struct s *p = &s; set(p); if (CONDITION) reach_error(); return 0; }
"""


@pytest.mark.parametrize("engine", ["symbolic", "predicate", "value"])
def test_members_of_two_anonymous_records_do_not_overlap(engine: Engine, tmp_path: Path) -> None:
    """The first one stood for all in formulas, so that `p->b` was what `p->c` had become."""
    file = tmp_path / "a.c"
    file.write_text(_ANONYMOUS.replace("CONDITION", "p->b == 2 && p->c == 3 && p->d == 1 && p->f == 9"))
    assert len(checked(file, "assertion", 10, engine).findings) == 1
    file.write_text(_ANONYMOUS.replace("CONDITION", "p->b != 2 || p->c != 3"))
    assert not any(finding.status == "confirmed" for finding in checked(file, "assertion", 10, engine).findings)
