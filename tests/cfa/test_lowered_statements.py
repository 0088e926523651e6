"""What statements are lowered to: small C bodies and the edges that are expected of them."""

from __future__ import annotations

import pytest

from tests.support.lowered import body

CASES = {
    "declaration": (
        "int x; x = 1; return x;",
        """
        0 -> 2  x is declared
        2 -> 3  x = 1
        3 -> 1  return x
        """,
    ),
    "if_else": (
        "if (a) b = 1; else b = 2; return b;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        2 -> 4  b = 1
        3 -> 4  b = 2
        4 -> 1  return b
        """,
    ),
    "jump_out_of_a_chosen_value": (  # what is lowered twice, first for its type, has its labels from the second time
        "a = b ? ({ if (a) goto out; 1; }) : 2; a = 3; out: return a;",
        """
        0 -> 2  [b]
        0 -> 3  [!b]
        2 -> 4  [a]
        2 -> 5  [!a]
        5 -> 6  $1 = 1
        6 -> 7  a = $1
        3 -> 7  a = 2
        7 -> 4  a = 3
        4 -> 1  return a
        """,
    ),
    "local_labels_of_two_blocks": (  # which of them a jump leads to is not looked at: nothing is said of the function
        "{ if (a) goto out; a = 3; out: a++; } { if (b) goto out; out: b++; } return b;",
        """
        2 -> 3  [a]
        2 -> 4  [!a]
        4 -> 3  a = 3
        3 -> 5  a = a + 1
        5 -> 3  [b]
        5 -> 3  [!b]
        3 -> 6  b = b + 1
        6 -> 1  return b
        0 -> 2  unsupported: two labels named out
        """,
    ),
    "a_nested_function_that_control_does_not_come_over": (  # it may change what the function around it has
        "auto int h(int); h(a); return b; int h(int k) { b = k; return k; }",
        """
        2 -> 3  h(a)
        3 -> 1  return b
        0 -> 2  unsupported: statement function definition
        """,
    ),
    "jumps_in_what_is_not_evaluated": (
        "out: while (a) { b = sizeof(({ break; 1; })); b = sizeof(({ continue; 1; })); b = sizeof(({ goto out; 1; })); }"
        " return b;",
        """
        0 -> 2  [1]
        2 -> 3  [a]
        2 -> 4  [!a]
        3 -> 5  b = 4
        5 -> 6  b = 4
        6 -> 2  b = 4
        4 -> 1  return b
        """,
    ),
    "if_without_else": (
        "if (a < 3) b = 1; return b;",
        """
        0 -> 2  [a < 3]
        0 -> 3  [a >= 3]
        2 -> 3  b = 1
        3 -> 1  return b
        """,
    ),
    "empty_branches_meet": (
        "if (a) ; else ; return b;",
        """
        0 -> 2  [a]
        0 -> 2  [!a]
        2 -> 1  return b
        """,
    ),
    "else_if": (
        "if (a == 1) b = 1; else if (a == 2) b = 2; return b;",
        """
        0 -> 2  [a == 1]
        0 -> 3  [a != 1]
        2 -> 4  b = 1
        3 -> 5  [a == 2]
        3 -> 4  [a != 2]
        5 -> 4  b = 2
        4 -> 1  return b
        """,
    ),
    "while_loop": (
        "while (a) a = a - 1; return a;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        2 -> 0  a = a - 1
        3 -> 1  return a
        """,
    ),
    "do_while": (
        "do a--; while (a > 0); return a;",
        """
        0 -> 2  a = a - 1
        2 -> 0  [a > 0]
        2 -> 3  [a <= 0]
        3 -> 1  return a
        """,
    ),
    "do_while_zero": (
        "do { if (a) break; b = 1; } while (0); return b;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        3 -> 2  b = 1
        2 -> 1  return b
        """,
    ),
    "for_loop": (
        "for (int i = 0; i < a; i++) { if (i == 2) continue; if (i == 5) break; b += i; } return b;",
        """
        0 -> 2  i = 0
        2 -> 3  [i < a]
        2 -> 4  [i >= a]
        3 -> 5  [i == 2]
        3 -> 6  [i != 2]
        6 -> 4  [i == 5]
        6 -> 7  [i != 5]
        7 -> 5  b = b + i
        5 -> 2  i = i + 1
        4 -> 1  return b
        """,
    ),
    "endless_loop": (
        "for (;;) { a++; } return a;",
        """
        0 -> 0  a = a + 1
        """,
    ),
    "while_true_with_break": (
        "while (1) { if (a) break; } return a;",
        """
        0 -> 2  [a]
        0 -> 0  [!a]
        2 -> 1  return a
        """,
    ),
    "constant_conditions": (
        "if (0) a = 1; if (sizeof(int) == 4) a = 2; return a;",
        """
        0 -> 2  a = 2
        2 -> 1  return a
        """,
    ),
    "switch": (
        "switch (a) { case 1: b = 1; case 2: b = 2; break; default: b = 3; } return b;",
        """
        0 -> 2  [a == 1]
        0 -> 3  [a != 1]
        3 -> 4  [a == 2]
        3 -> 5  [a != 2]
        2 -> 4  b = 1
        4 -> 6  b = 2
        5 -> 6  b = 3
        6 -> 1  return b
        """,
    ),
    "switch_without_default": (
        "switch (a) { case 1: return 1; } return b;",
        """
        0 -> 2  [a == 1]
        0 -> 3  [a != 1]
        2 -> 1  return 1
        3 -> 1  return b
        """,
    ),
    "switch_default_first": (
        "switch (a) { default: b = 0; break; case 7: b = 7; } return b;",
        """
        0 -> 2  [a == 7]
        0 -> 3  [a != 7]
        3 -> 4  b = 0
        2 -> 4  b = 7
        4 -> 1  return b
        """,
    ),
    "case_range": (
        "switch (a) { case 1 ... 5: b = 1; } return b;",
        """
        0 -> 2  [a >= 1]
        0 -> 3  [a < 1]
        2 -> 4  [a <= 5]
        2 -> 3  [a > 5]
        4 -> 3  b = 1
        3 -> 1  return b
        """,
    ),
    "case_in_a_loop": (
        "switch (a) { case 0: do { b++; case 1: b--; } while (b); } return b;",
        """
        0 -> 2  [a == 0]
        0 -> 3  [a != 0]
        3 -> 4  [a == 1]
        3 -> 5  [a != 1]
        2 -> 4  b = b + 1
        4 -> 6  b = b - 1
        6 -> 2  [b]
        6 -> 5  [!b]
        5 -> 1  return b
        """,
    ),
    "goto_backwards": (
        "again: a--; if (a) goto again; return a;",
        """
        0 -> 2  a = a - 1
        2 -> 0  [a]
        2 -> 3  [!a]
        3 -> 1  return a
        """,
    ),
    "goto_forwards": (
        "if (a) goto out; b = 1; out: return b;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        3 -> 2  b = 1
        2 -> 1  return b
        """,
    ),
    "code_after_return": (
        "return a; b = 1;",
        """
        0 -> 1  return a
        """,
    ),
    "falls_off_the_end": (
        "b = a;",
        """
        0 -> 2  b = a
        2 -> 1  return
        """,
    ),
    "comma": (
        "for (a = 0, b = 1; a < b; a++, b--) ; return a, b;",
        """
        0 -> 2  a = 0
        2 -> 3  b = 1
        3 -> 4  [a < b]
        3 -> 5  [a >= b]
        4 -> 6  a = a + 1
        6 -> 3  b = b - 1
        5 -> 1  return b
        """,
    ),
    "shadowing": (
        "int x = 1; { int x = 2; a = x; } return x;",
        """
        0 -> 2  x = 1
        2 -> 3  x = 2
        3 -> 4  a = x
        4 -> 1  return x
        """,
    ),
    "static_local": (
        "static int n = 3; return n++;",
        """
        0 -> 2  $1 = n
        2 -> 3  n = n + 1
        3 -> 1  return $1
        """,
    ),
    "assembler": (
        '__asm__("nop"); __asm__ volatile("" ::: "memory"); return a;',
        """
        0 -> 2  unsupported: inline assembler
        2 -> 1  return a
        """,
    ),
    "computed_goto": (
        "void *l = &&here; goto *l; here: return a;",
        """
        0 -> 2  l = any value
        2 -> 3  unsupported: computed goto
        4 -> 1  return a
        3 -> 4  [1]
        """,
    ),
    "computed_gotos_share_the_labels": (
        "static void *t[] = {&&one, &&two}; goto *t[a]; one: goto *t[b]; two: return a; three: return b;",
        """
        0 -> 2  unsupported: computed goto
        3 -> 2  unsupported: computed goto
        4 -> 1  return a
        2 -> 3  [1]
        2 -> 4  [1]
        """,
    ),
    "assembler_with_outputs": (
        'asm("x" : "=r"(a), "+m"(*p) : "r"(b)); return a;',
        """
        0 -> 2  unsupported: inline assembler
        2 -> 3  a = any value
        3 -> 4  *p = any value
        4 -> 1  return a
        """,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_edges(case: str) -> None:
    text, expected = CASES[case]
    assert body(text).split("\n") == [line.strip() for line in expected.strip().splitlines()]


@pytest.mark.parametrize("operand", ["a++", "g(a)", "*p", "s[a]", "a ? *p : 0"])
def test_operands_of_empty_assembler_code_are_evaluated(operand: str) -> None:
    assert "assembler" in body(f'__asm__ volatile("" : : "r"({operand}));')


@pytest.mark.parametrize("operand", ["a", "&a", "p", "a + 1u"])
def test_operands_of_empty_assembler_code_without_effects_are_nothing(operand: str) -> None:
    assert "assembler" not in body(f'__asm__ volatile("" : : "r"({operand}) : "memory");')


def test_a_structure_that_is_not_used_is_accessed() -> None:
    assert "= *q" in body("struct node *q = (struct node *)p; *q;")
