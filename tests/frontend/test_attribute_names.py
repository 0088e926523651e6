"""The class: words that look like attributes and are none to gcc, or others: in another namespace, in none, in a string."""

from __future__ import annotations

import pytest

from analysis.c.attributes import Attribute, said_of_declaration
from analysis.c.layout import Layout
from analysis.frontend.declarations.attribute_reading import attributes
from analysis.model.c_types import LP64, Record
from tests.support.explorations import program_of


def _names(text: str) -> list[str]:
    return [one.name for one in attributes([text.encode()])]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[[noreturn]]", ["noreturn"]),
        ("[[__noreturn__, maybe_unused]]", ["noreturn", "maybe_unused"]),
        ("[[_Noreturn]]", ["noreturn"]),
        ("[[gnu::noreturn, __gnu__ :: __pure__]]", ["noreturn", "pure"]),
        ("[[acme::noreturn]]", ["acme::noreturn"]),
        ("[[clang::noreturn]]", ["clang::noreturn"]),
        ("[[nonnull]]", ["[[nonnull]]"]),
        ("[[gnu::unused, acme::unused]]", ["unused", "acme::unused"]),
        ("__attribute__((noreturn))", ["noreturn"]),
    ],
)
def test_only_gcc_s_namespace_has_gcc_s_attributes(text: str, names: list[str]) -> None:
    assert _names(text) == names


@pytest.mark.parametrize("name", ["acme::unused", "[[unused]]"])
def test_what_is_of_others_is_not_understood(name: str) -> None:
    assert said_of_declaration([Attribute(name)]).strange


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("struct s { char c; int i; } [[gnu::packed]];", 5),
        ("struct [[gnu::packed]] s { char c; int i; };", 5),
        ('struct __attribute__((deprecated("not packed"))) s { char c; int i; };', 8),
        ('struct __attribute__((deprecated("was aligned(16)"))) s { char c; int i; };', 8),
        ('struct [[deprecated("not packed")]] s { char c; int i; };', 8),
        ('struct s { char c; int i __attribute__((deprecated("mode(DI)"))); };', 8),
        ('typedef int t __attribute__((deprecated("mode(DI)"))); struct s { char c; t i; };', 8),
    ],
)
def test_layout_does_not_depend_on_strings(text: str, size: int) -> None:
    assert Layout(LP64, program_of(text).records.get).size(Record("struct", "struct s")) == size


@pytest.mark.parametrize(
    "text",
    [
        "struct [[acme::packed]] s { char c; int i; };",
        "struct [[packed]] s { char c; int i; };",
        "struct s { char c; int i [[acme::aligned(16)]]; };",
    ],
)
def test_layout_of_what_others_say_is_not_known(text: str) -> None:
    found = program_of(text).records["struct s"]
    assert found.strange or Layout(LP64, {"struct s": found}.get).size(Record("struct", "struct s")) is None
