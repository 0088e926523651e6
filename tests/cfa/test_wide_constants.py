"""The class: a constant beyond 64 bits, wherever it stands, costs at most the function that it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cfa.revisions.match import match_function
from analysis.model import ir
from analysis.model.digest import digest_value
from analysis.model.options import Options
from analysis.store.database import Store
from tests.support.lowered import unit_of

_TYPES = "typedef unsigned __int128 wide; typedef __int128 deep;\n"
_UNDERSTOOD = {
    "shift": "wide f(void) { return (wide)1 << 100; }",
    "product": "wide f(void) { return (wide)0xffffffffffffffff * 0xffffffffffffffff; }",
    "negative": "deep f(void) { return -((deep)1 << 90); }",
    "converted": "int f(wide x) { return x == -1; }",
    "case": "int f(wide x) { switch (x) { case (wide)1 << 70: return 1; default: return 0; } }",
    "range": "int f(wide x) { switch (x) { case (wide)1 << 70 ... (wide)1 << 71: return 1; } return 0; }",
    "static": "wide g = (wide)3 << 100; int f(void) { return g != 0; }",
    "local static": "int f(void) { static wide g = (wide)3 << 100; return g != 0; }",
    "elements": "wide t[] = { [3] = (wide)-1, (wide)1 << 127 }; int f(int i) { return t[i & 3] >> 64 ? 1 : 0; }",
    "index": "int f(char *p) { return p[(wide)1 << 100]; }",
    "moved": "char *f(char *p) { return p + ((wide)1 << 100); }",
    "floating": "double f(void) { return (double)((wide)1 << 120); }",
}
_REFUSED = {
    "bit-field": "struct s { wide x : 100; }; int f(struct s *p) { p->x = (wide)1 << 99; return p->x == (wide)1 << 99; }",
    "decimal": "wide f(void) { return 123456789012345678901234567890; }",
    "hexadecimal": "wide f(void) { return 0x123456789012345678901234567890; }",
    "enumerator": "enum e { BIG = (wide)1 << 100 }; int f(void) { return BIG; }",
    "length": "char g[(wide)1 << 100]; int f(void) { return g[3]; }",
    "size": "char g[1ul << 40][1ul << 40]; int f(void) { return sizeof g == 0; }",
    "local length": "int f(void) { char g[(wide)1 << 100]; return sizeof g == 0; }",
}
_OTHER = "\nint other(void) { return 1 / 0; }\n"


@pytest.mark.parametrize("text", [*_UNDERSTOOD.values(), *_REFUSED.values()], ids=(*_UNDERSTOOD, *_REFUSED))
def test_the_function_has_a_digest_and_is_matched_after_an_edit(text: str) -> None:
    before, after = (unit_of(_TYPES + text + _OTHER + more) for more in ("", "int more;"))
    old, new = before.functions[0], after.functions[0]
    assert digest_value(old.cfa.edges) == digest_value(new.cfa.edges)
    matched = match_function(new, old)
    assert [edge.id for edge in matched.cfa.edges] == [edge.id for edge in old.cfa.edges]


@pytest.mark.parametrize("text", _REFUSED.values(), ids=_REFUSED)
def test_what_is_not_understood_has_a_reason(text: str) -> None:
    edges = unit_of(_TYPES + text).functions[0].cfa.edges
    reasons = [edge.effect.reason for edge in edges if isinstance(edge.effect, ir.Unsupported)]
    assert reasons
    assert all(reasons)


@pytest.mark.parametrize("text", _UNDERSTOOD.values(), ids=_UNDERSTOOD)
def test_the_others_are_understood(text: str) -> None:
    assert not any(isinstance(edge.effect, ir.Unsupported) for edge in unit_of(_TYPES + text).functions[0].cfa.edges)


def test_digests_distinguish_wide_constants() -> None:
    texts = [f"wide f(void) {{ return {value}; }}" for value in ("(wide)1 << 100", "(wide)1 << 101", "(wide)3 << 64", "3")]
    assert len({digest_value(unit_of(_TYPES + text).functions[0].cfa.edges) for text in texts}) == len(texts)


def _functions(folder: Path, forms: dict[str, str]) -> Path:
    """A folder with one file for each form."""
    for number, text in enumerate(forms.values()):
        named = text.replace(" f(", f" f{number}(").replace("*f(", f"*f{number}(")
        file = folder / f"{number}.c"
        file.write_text(f"{_TYPES}{named}\nint other{number}(void) {{ return 1 / 0; }}\n".replace(" g", f" g{number}"))
    return folder


def test_everything_else_in_the_files_is_checked(tmp_path: Path) -> None:
    folder = _functions(tmp_path, _UNDERSTOOD | _REFUSED)
    wanted = {f"other{number}" for number in range(len(_UNDERSTOOD | _REFUSED))}
    for _ in range(2):  # the second checker takes what the first one stored
        checker = Checker(Options(rules=("division-by-zero",), proofs=False), store=Store(tmp_path / "store"))
        checker.open([str(folder)])
        report = checker.check()
        assert {finding.function for finding in report.findings} == wanted
        assert not [message for message in report.messages if "defect" in message.text]
