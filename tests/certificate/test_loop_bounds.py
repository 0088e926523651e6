"""What bounds of integers say of loops, as people read it; and that it comes with the proof."""

from __future__ import annotations

import pytest

from analysis.certificate.ranges.loop_bounds import at_loops
from analysis.certificate.ranges.range_search import RangeSearch
from analysis.model.options import Options
from analysis.session.portfolio.request_terms import About, terms_of
from analysis.session.provers.asking.answering import answer
from analysis.session.provers.asking.program_slices import Contents, Slicer
from analysis.session.provers.asking.question import Question
from tests.support.explorations import program_of


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int f(void) { int i; for (i = 0; i < 10; i++) ; return i; }", ["0 <= i && i <= 10"]),
        ("int f(void) { int i = 0, k = 7; while (g()) i = k; return i; }", ["0 <= i && i <= 7 && k == 7"]),
        ("int f(unsigned n) { while (n > 9) n /= 10; return n; }", []),
        ("int f(int n) { if (n < 3) return 0; while (g()) ; return n; }", ["n >= 3"]),
        ("int f(unsigned n) { if (n > 3) return 0; while (g()) ; return n; }", ["n <= 3"]),
        ("int f(int n) { while (n) n--; return n; }", []),
        ("int f(void) { int i = 1; while (g()) { int i = 2; if (i > h()) break; } return i; }", []),
        ("int f(int n) { return n > 0; }", []),
    ],
)
def test_what_is_said_at_the_heads_of_loops(text: str, said: list[str]) -> None:
    program = program_of("int g(void); int h(void); " + text)
    search = RangeSearch(program)
    assert search.follow("f")
    assert [words for _, words in at_loops(program.functions["f"], search.claims["f"])] == said


def test_a_proof_by_bounds_has_the_invariants_of_its_loops() -> None:
    program = program_of("int f(int x)\n{\n\tint i;\n\tfor (i = 0; i < 9; i++)\n\t\tx = 1 << i;\n\treturn x;\n}\n")
    slice_ = Slicer(program, ("f",), Contents()).everything()
    [part] = answer(Question(slice_, About("contracts", ("shift-range",)), True, terms_of(Options()), 10.0)).parts
    assert (part.engine, part.functions) == ("ranges", ("f",))
    [invariant] = part.invariants
    assert invariant.text == "0 <= i && i <= 9"
    head = program.functions["f"].edges[invariant.edge]
    assert len(program.functions["f"].outgoing[head.source]) == 2
