"""The class: an attribute that is not found because so much stands between it and what it is of.

Directives and comments are blanks when attributes are looked for, of any length.
"""

from __future__ import annotations

import pytest

from analysis.c.layout import Layout
from analysis.frontend.syntax.cleaning import clean
from analysis.model.c_types import LP64, Record
from tests.support.explorations import program_of
from tests.support.lowered import unit_of

_FAR = f"\n#pragma region {'x' * 1500}\n"


@pytest.mark.parametrize(
    "text",
    [
        "struct s { char c; int i; }FAR__attribute__((packed));",
        "struct FAR __attribute__((packed)) FAR s { char c; int i; };",
        "struct s { char c; int i; } __attribute__((unused)) FAR __attribute__((packed)) v;",
        "struct s { char c; int i FAR __attribute__((packed)); };",
    ],
)
def test_it_packs_a_record(text: str) -> None:
    records = program_of(text.replace("FAR", _FAR)).records
    assert Layout(LP64, records.get).size(Record("struct", "struct s")) == 5


@pytest.mark.parametrize(
    "text", ['extern int a FAR __asm__("b");', 'extern int a(void) FAR __asm__("b"), c;', 'extern int a FAR __asm__("b") FAR ;']
)
def test_it_is_an_assembler_name(text: str) -> None:
    assert [label.symbol for label in unit_of(text.replace("FAR", _FAR)).level.linkage.labels] == ["b"]


@pytest.mark.parametrize("spaces", [*range(90, 110), *range(985, 1015)])
def test_a_statement_is_none(spaces: int) -> None:
    text = f'int f(int a) {{ if (a) return 1; else{" " * spaces}asm("nop"); return 0; }}'.encode()
    assert clean(text).attributes == []
