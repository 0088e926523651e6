"""What expressions are lowered to: small C bodies and the edges that are expected of them."""

from __future__ import annotations

import pytest

from analysis.cfa.linking.link import link
from analysis.model import ir
from analysis.model.c_types import BOOL, INT, Integer
from tests.support.lowered import body, cfa_of, unit_of

CASES = {
    "call_into_variable": (
        "a = g(b); p = (int *)malloc(sizeof *p); return a;",
        """
        0 -> 2  a = g(b)
        2 -> 3  p = malloc(4)
        3 -> 1  return a
        """,
    ),
    "call_with_conversion": (
        "s[0] = g(1); return g(g(2));",
        """
        0 -> 2  $1 = g(1)
        2 -> 3  *s = $1
        3 -> 4  $2 = g(2)
        4 -> 5  $3 = g($2)
        5 -> 1  return $3
        """,
    ),
    "call_dropped": (
        "(void)g(1); g(2); return 0;",
        """
        0 -> 2  g(1)
        2 -> 3  g(2)
        3 -> 1  return 0
        """,
    ),
    "arguments_converted": (
        "char c = 300; use(c, 1.5f, p); return g('a');",
        """
        0 -> 2  c = 44
        2 -> 3  use(c, 1.5f, p)
        3 -> 4  $1 = g(97)
        4 -> 1  return $1
        """,
    ),
    "post_increment": (
        "b = a++; *p++ = b; return b;",
        """
        0 -> 2  $1 = a
        2 -> 3  a = a + 1
        3 -> 4  b = $1
        4 -> 5  $2 = p
        5 -> 6  p = p + 1
        6 -> 7  *$2 = b
        7 -> 1  return b
        """,
    ),
    "pre_decrement": (
        "b = --a; return *--p;",
        """
        0 -> 2  a = a - 1
        2 -> 3  b = a
        3 -> 4  p = p - 1
        4 -> 1  return *p
        """,
    ),
    "compound_assignment": (
        "a += b; s[a] -= 2; *p <<= 1; return a;",
        """
        0 -> 2  a = a + b
        2 -> 3  s[a] = s[a] - 2
        3 -> 4  *p = *p << 1
        4 -> 1  return a
        """,
    ),
    "chained_assignment": (
        "a = b = 0; return a;",
        """
        0 -> 2  b = 0
        2 -> 3  a = b
        3 -> 1  return a
        """,
    ),
    "conditional_value": (
        "int x = a ? b : 2; return x + (a ? 1 : 2);",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        2 -> 4  x = b
        3 -> 4  x = 2
        4 -> 5  [a]
        4 -> 6  [!a]
        5 -> 7  $1 = 1
        6 -> 7  $1 = 2
        7 -> 1  return x + $1
        """,
    ),
    "elvis": (
        "p = p ?: &a; return *p;",
        """
        0 -> 2  [p]
        0 -> 3  [p == NULL]
        2 -> 4  $1 = p
        3 -> 4  $1 = &a
        4 -> 5  p = $1
        5 -> 1  return *p
        """,
    ),
    "element": (
        "int m[2][3]; m[1][a] = p[2]; return *(m[0] + b) + 1[p];",
        """
        0 -> 2  m is declared
        2 -> 3  m[1][a] = p[2]
        3 -> 1  return m[0][b] + p[1]
        """,
    ),
    "addresses": (
        "p = &a; p = &p[3]; p = &*p; return *&a;",
        """
        0 -> 2  p = &a
        2 -> 3  p = p + 3
        3 -> 4  p = p
        4 -> 1  return a
        """,
    ),
    "pointer_arithmetic": (
        "p = 1 + p; p -= 2; p++; return p - &a;",
        """
        0 -> 2  p = p + 1
        2 -> 3  p = p - 2
        3 -> 4  p = p + 1
        4 -> 1  return p - &a
        """,
    ),
    "members": (
        "struct node n, *q = &n; n.v = 1; q->next = q; q->i = n.c; return q->next->v;",
        """
        0 -> 2  n is declared
        2 -> 3  q = &n
        3 -> 4  n.v = 1
        4 -> 5  q->next = q
        5 -> 6  q->i = n.c
        6 -> 1  return q->next->v
        """,
    ),
    "sizes": (
        'a = sizeof(T) + sizeof a + sizeof "abc" + sizeof(struct node) + sizeof(s) - 1; return a;',
        """
        0 -> 2  a = 43
        2 -> 1  return a
        """,
    ),
    "casts_of_typedefs": (
        "a = (T)(b); a = (T)*p + 1; a = (T)-b; return (T)(p)[1];",
        """
        0 -> 2  a = b
        2 -> 3  a = *p + 1
        3 -> 4  a = -b
        4 -> 1  return p[1]
        """,
    ),
    "what_looks_like_a_cast": (
        "a = (a) - b * 2; if (a <= (b) && (b) <= 3) return 1; return a < (b) - 1;",
        """
        0 -> 2  a = a - b * 2
        2 -> 3  [a <= b]
        2 -> 4  [a > b]
        3 -> 5  [b <= 3]
        3 -> 4  [b > 3]
        5 -> 1  return 1
        4 -> 1  return a < b - 1
        """,
    ),
    "statement_expression": (
        "a = ({ int t = b; t + 1; }); return a;",
        """
        0 -> 2  t = b
        2 -> 3  $1 = t + 1
        3 -> 4  a = $1
        4 -> 1  return a
        """,
    ),
    "compound_literal": (
        "struct node n = (struct node){ .v = a }; return n.v;",
        """
        0 -> 2  $1 = {0}
        2 -> 3  $1.v = a
        3 -> 4  n = $1
        4 -> 1  return n.v
        """,
    ),
    "constants_fold": (
        "a = 1 + 2 * 3; a = -1 < 0u; a = 7 / 0; b = 'a' + '\\n' + 0x10 + 010; return 1 << 4;",
        """
        0 -> 2  a = 7
        2 -> 3  a = 0
        3 -> 4  a = 7 / 0
        4 -> 5  b = 131
        5 -> 1  return 16
        """,
    ),
    "unsigned": (
        "unsigned u = -1; u = a < u; return u + 1l > 2;",
        """
        0 -> 2  u = 4294967295
        2 -> 3  u = a < u
        3 -> 1  return u + 1 > 2
        """,
    ),
    "function_name": (
        "use(__func__); return 0;",
        """
        0 -> 2  use("f")
        2 -> 1  return 0
        """,
    ),
    "undeclared": (
        "return nowhere + 1;",
        """
        0 -> 2  unsupported: undeclared identifier nowhere
        2 -> 1  return
        """,
    ),
    "cast_to_bool": (
        "return (_Bool)(a) + (_Bool)-b;",
        """
        0 -> 1  return a + -b
        """,
    ),
    "casts_of_signed_operands_inside_sums": (
        "return a - (T)-b - a * (T)&b + (T)*p;",
        """
        0 -> 1  return a - -b - a * &b + *p
        """,
    ),
    "call_in_parentheses_before_a_minus": (
        "return (g((a, b))) - (unsigned)(3);",
        """
        0 -> 2  $1 = g(b)
        2 -> 1  return $1 - 3
        """,
    ),
    "constant_p": (
        "return __builtin_constant_p(a);",  # what optimisers see to be constant
        """
        0 -> 1  return any value
        """,
    ),
}


def test_a_cast_to_bool_is_no_call() -> None:
    effect = cfa_of("int f(int a) { return (_Bool)(a); }").edges[0].effect
    assert effect == ir.Return(ir.Cast(ir.Cast(ir.Var("a", "parameter", INT), BOOL), INT))


def test_a_bit_field_has_the_type_of_its_width_and_promotes_to_int() -> None:
    text = "struct s { unsigned u : 3; unsigned long l : 40; }; int f(struct s *p) { return p->u - 1 < 0; }"
    effect = cfa_of(text).edges[0].effect
    assert isinstance(effect, ir.Return)
    comparison = effect.value
    assert isinstance(comparison, ir.Binary)
    difference = comparison.left
    assert isinstance(difference, ir.Binary)
    assert difference.type == INT
    assert ir.strip_casts(difference.left).type == Integer(3, False, "unsigned int : 3")


@pytest.mark.parametrize("case", CASES)
def test_edges(case: str) -> None:
    text, expected = CASES[case]
    assert body(text).split("\n") == [line.strip() for line in expected.strip().splitlines()]


def test_constants_that_overflow_are_computed_only_where_c_wants_a_constant() -> None:
    """`1 << 31` and the least value modulo -1 are undefined where they are evaluated (C11 6.5.7p4, 6.5.5p6)."""
    text = """
    enum { TOP = 1 << 31 };
    struct bits { int b : (1 << 31 < 0) + 3; };
    int f(int a) {
        static int first = (1 << 31) | 1;
        static int each[2] = { 7, -(-2147483647 - 1) };
        int x = 1 << 31, y = (-2147483647 - 1) % -1, z = -1 << 1, k = TOP;
        switch (a) { case 1 << 31: return first + each[0]; default: return sizeof(struct bits) + x + y + z + k; }
    }
    """
    effects = [edge.effect for edge in cfa_of(text).edges]
    assigned = {str(e.target.name): e.value for e in effects if isinstance(e, ir.Assign) and isinstance(e.target, ir.Var)}
    assert {name: isinstance(value, ir.Binary) for name, value in assigned.items()} == {
        "x": True,
        "y": True,
        "z": True,
        "k": False,
    }
    (tested,) = {e.condition for e in effects if isinstance(e, ir.Assume)}
    assert isinstance(tested, ir.Binary)
    assert tested.right == ir.IntConst(-(1 << 31), INT)
    program = link([unit_of(text)]).program
    statics = {name.rpartition("::")[2]: value for name, value in program.globals.items()}
    assert statics["first"].initial == ir.IntConst(-(1 << 31) + 1, INT)
    assert [part.value for part in statics["each"].parts][-1] == ir.IntConst(-(1 << 31), INT)


@pytest.mark.parametrize(
    ("operand", "is_refused"),
    [
        ("*(int (*)[8 / b])p", True),
        ("*(int (*)[b])*(int **)p", True),
        ("*v", False),
        ("(*v)", False),
        ("v[0]", False),
        ("(*v)[8 / b]", False),
    ],
)
def test_the_operand_of_sizeof_is_computed_if_its_type_has_a_variable_length(operand: str, is_refused: bool) -> None:
    """C11 6.5.3.4p2. What could go wrong there is not followed."""
    assert ("unsupported" in body(f"int (*v)[b] = (void *)p; return sizeof {operand};")) == is_refused
