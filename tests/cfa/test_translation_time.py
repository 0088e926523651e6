"""A text is preprocessed as of one moment, and proofs about programs that name it say so."""

from __future__ import annotations

import pytest

from analysis.c.translation_time import MOMENT
from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.frontend.text.preprocess import preprocess
from analysis.model.assumptions import TRANSLATION_TIME
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags
from tests.support.explorations import program_of


@pytest.mark.parametrize("macro", MOMENT)
def test_the_moment_is_always_the_same(macro: str) -> None:
    text = preprocess("a.c", f"const char *when = {macro};\n".encode(), UnitFlags(), Options()).text
    assert f"when = {MOMENT[macro]};".encode() in text


def test_what_the_flags_of_a_file_say_counts() -> None:
    flags = UnitFlags(macros=('#define __DATE__ "May  4 2020"',))
    text = preprocess("a.c", b"const char *when = __DATE__;\n", flags, Options()).text
    assert b'when = "May  4 2020";' in text


@pytest.mark.parametrize("value", MOMENT.values())
@pytest.mark.parametrize(
    ("text", "is_listed"),
    [
        ("int main(void) { return %s[0] == '2'; }", True),
        ('int main(void) { const char *s = "built on " %s; return s[0]; }', True),
        ("int main(void) { char s[] = %s; return s[0]; }", True),
        ("const char *s = %s; int main(void) { return s[0]; }", True),
        ("struct { int n; const char *s; } s = { 1, %s }; int main(void) { return s.s[0]; }", True),
        ("int main(void) { return sizeof(%s) > 4; }", False),  # which is always the same
        ('int main(void) { return "%%s"[0]; }', False),
    ],
)
def test_programs_that_hold_the_moment_assume_it(text: str, value: str, is_listed: bool) -> None:
    said = assumptions_of(program_of(text.replace("%s", value) if "%%" not in text else text))
    assert (TRANSLATION_TIME.sentence in said) is is_listed


@pytest.mark.parametrize("value", MOMENT.values())
def test_also_where_a_macro_has_put_the_literal_in_quotes(value: str) -> None:
    escaped = value.replace('"', '\\"')
    said = assumptions_of(program_of(f'int main(void) {{ return "{escaped}"[1]; }}'))
    assert TRANSLATION_TIME.sentence in said
