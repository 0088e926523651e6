"""Class: bit-fields behind pointers. A pointer that may lead to a structure may lead to its bit-fields, too: their type is not
the declared one (C11 6.7.2.1p10), and so tables of what a structure holds left them out."""

import pytest
from support.walked_paths import MODES, program_of, status, walk

from analysis.cpa.effects.state_places import may_alias, tag_of, tags_in
from analysis.model import ir
from analysis.model.c_types import Record

DECLARED = pytest.mark.parametrize("declared", ["int f", "int f : 5", "unsigned f : 3", "_Bool f : 1", "int f : 13", "int f : 8"])


@MODES
@DECLARED
@pytest.mark.parametrize("written", ["p->f = 1;", "struct s v = { 1, 2 }; *p = v;"])
@pytest.mark.parametrize(
    "text",
    [
        "struct s a; struct s *known = &a; int f(struct s *p) { a.f = 0; WRITTEN if (a.f == 1) return 1; return 0; }",
        "int f(struct s *p, struct s *q) { q->f = 0; WRITTEN if (q->f == 1) return 1; return 0; }",
        "struct s *g(struct s *); int f(void) { struct s a, *p = g(&a); a.f = 0; WRITTEN if (a.f == 1) return 1; return 0; }",
    ],
)
def test_a_pointer_from_outside_may_lead_to_a_bit_field(text, written, declared, mode):
    program = program_of(f"struct s {{ {declared}; int g; }}; {text.replace('WRITTEN', written)}")
    assert status(walk(program, mode, branches="t")) == "sat"


@DECLARED
def test_a_structure_holds_what_an_access_to_its_member_says(declared):
    program = program_of(f"struct s {{ {declared}; int g; }}; int f(struct s *p) {{ return p->f; }}")
    parts = [part for edge in program.functions["f"].edges for expr in ir.expressions(edge.effect) for part in ir.walk(expr)]
    (read,) = (part for part in parts if isinstance(part, ir.Field))
    assert isinstance(read.record.type, Record)
    assert any(may_alias(tag_of(read, ()), tag) for tag in tags_in(read.record.type, program.records))
