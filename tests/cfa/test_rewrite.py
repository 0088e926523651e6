"""What a renaming changes, and what it leaves as the object that it was."""

from __future__ import annotations

from analysis.cfa.linking.rewrite import Renaming
from analysis.model import ir
from analysis.model.c_types import INT, Pointer, Record


def _member(tag: str) -> ir.Expr:
    record = Record("struct", f"struct {tag}")
    pointer = ir.Var("p", "local", Pointer(record))
    return ir.Field(ir.Deref(pointer, record), "x", INT)


def test_equal_values_without_what_is_renamed_each_stay_the_object_that_they_were() -> None:
    rename = Renaming(records={"struct b": "struct b~2"})
    one, other = _member("a"), _member("a")
    assert one is not other
    assert rename(one) is one
    assert rename(other) is other
    both = (one, other)
    assert rename(both) is both


def test_equal_values_with_what_is_renamed_become_equal() -> None:
    rename = Renaming(records={"struct b": "struct b~2"})
    assert rename(_member("b")) == rename(_member("b")) != _member("b")
