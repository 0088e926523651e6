"""Dumps, the call graph, and units in other processes."""

from __future__ import annotations

import pickle

from analysis.cfa.callgraph import callees, callers, components, roots
from analysis.cfa.cfa_text import dot_callgraph, dot_cfa, dump_ast, dump_callgraph, dump_cfa
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.frontend.syntax.parser import parse
from tests.support.lowered import cfa_of, unit_of

CALLS = (
    "int even(int n); int odd(int n) { return n ? even(n - 1) : 0; } int even(int n) { return n ? odd(n - 1) : 1; }"
    "int apply(int (*p)(int)) { return p(3); } int handler(int n) { return n; }"
    "int main(void) { puts(0); return even(4) + apply(handler); }"
)


def program() -> Program:
    return link([unit_of(CALLS)]).program


def test_cfa_as_text() -> None:
    expected = "f(a): entry 0, exit 1\n  0 -> 2  [a]\n  0 -> 3  [!a]\n  2 -> 1  return 1\n  3 -> 1  return 0\n"
    assert dump_cfa(cfa_of("int f(int a) { if (a) return 1; return 0; }")) == expected


def test_cfa_as_dot_escapes_quotes() -> None:
    dot = dot_cfa(cfa_of('int puts(); int f(void) { return puts("a\\n"); }'))
    assert dot.startswith('digraph "f" {')
    assert '0 -> 2 [label="$1 = puts(\\"a\\\\n\\")"];' in dot
    assert dot.endswith("}\n")


def test_callgraph() -> None:
    assert dump_callgraph(program()) == "odd: even\neven: odd\napply: handler\nhandler:\nmain: puts, even, apply\n"
    assert '"puts" [style=dashed];' in dot_callgraph(program())


def test_components_come_callees_first() -> None:
    order = components(program())
    assert ("odd", "even") in order
    assert order.index(("odd", "even")) < order.index(("main",))
    assert order.index(("handler",)) < order.index(("apply",)) < order.index(("main",))


def test_callers_and_roots() -> None:
    assert callers(program())["even"] == ("odd", "main")
    assert callees(program())["apply"] == ("handler",)
    assert roots(program()) == ("main",)


def test_ast() -> None:
    assert dump_ast(parse(b"int x;")) == "translation_unit\n  declaration\n    primitive_type int\n    identifier x\n"


def test_units_travel_between_processes() -> None:
    unit = unit_of(CALLS)
    copy = pickle.loads(pickle.dumps(unit))
    assert [dump_cfa(f.cfa) for f in copy.functions] == [dump_cfa(f.cfa) for f in unit.functions]
    again = unit_of(CALLS.replace("puts(0)", "puts(1)"), previous=copy)
    assert again.work.reused == 4
    assert again.functions[0].cfa is copy.functions[0].cfa
