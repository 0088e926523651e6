"""A record that holds characters only: its members may be the bytes of any object (C11 6.5p7), for all engines."""

from __future__ import annotations

import pytest

from analysis.cfa.linking.link import link
from analysis.model.options import Engine
from analysis.session.portfolio.asking import ask
from analysis.session.portfolio.request import Answer, Proved, Request
from analysis.session.portfolio.request_terms import About, Terms
from tests.support.lowered import unit_of

_ENGINES: tuple[Engine, ...] = ("auto", "predicate", "symbolic", "value")
_HEAD = "struct bytes { unsigned char a, b, c, d; }; struct both { struct bytes b[2]; }; struct w { int m, n; };\n"
_CLEAR = "y->a = 0; y->b = 0; y->c = 0; y->d = 0;"
_CASES = {
    "a number": f"int f(int *p, struct bytes *y) {{ if (!*p) return 0; {_CLEAR} return 8 / *p; }}",
    "a variable": f"int f(int n) {{ struct bytes *y = (struct bytes *)&n; if (!n) return 0; {_CLEAR} return 8 / n; }}",
    "a member": f"int f(struct w *p, struct bytes *y) {{ if (!p->n) return 0; {_CLEAR} return 8 / p->n; }}",
    "as a whole": "int f(struct w *p, struct bytes *y, struct bytes *z) { if (!p->n) return 0; *y = *z; return 8 / p->n; }",
    "a record in it": "int f(struct w *p, struct both *y) { if (!p->n) return 0; y->b[0].a = 0; return 8 / p->n; }",
}
_APART = "struct mixed { char a; long b; }; int f(int *p, struct mixed *y) { if (!*p) return 0; y->a = 0; return 8 / *p; }"


def _said(source: str, engine: Engine) -> Answer:
    program = link([unit_of(_HEAD + source)]).program
    about = About("function", ("division-by-zero",), "f")
    request = Request(program, ("f",), about, whole=False, terms=Terms("LP64", engine, "auto"))
    return ask(request, 4.0).by_rule["division-by-zero"]


@pytest.mark.parametrize("engine", _ENGINES)
@pytest.mark.parametrize("source", _CASES.values(), ids=_CASES)
def test_bytes_of_another_object_change(source: str, engine: Engine) -> None:
    assert not isinstance(_said(source, engine), Proved)


def test_a_character_beside_other_members_is_no_byte_of_a_number() -> None:
    assert isinstance(_said(_APART, "auto"), Proved)
