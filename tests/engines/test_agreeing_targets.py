"""What a call gives is asked once of each function below it, however many ways lead there, and however deep they are."""

from __future__ import annotations

import pytest

from analysis.cfa.function_values import with_values
from analysis.engines.automaton.report.agreeing_targets import gives
from analysis.model import ir
from tests.support.explorations import program_of

_MADE = "static int *made0(int a) { return malloc(a); }"
_KEPT = "static int *kept; static int *made0(int a) { int *p = malloc(a); if (a > 3) kept = p; return p; }"
_OTHER = "static int one; static int *made0(int a) { return a > 3 ? malloc(a) : &one; }"
_TWICE = "if (a > {}) return {}; return {};"  # 2 ** 400 ways
_AGAIN = "if (a > {}) return {}; int *p = again(a); return p ? p : made0(a);"


def _gives(last: str, body: str, deep: int) -> tuple[bool, set[str]]:
    """Whether the last function of a chain gives what `malloc` does, and which ones that depends on."""
    lines = ["void *malloc(unsigned long); static int *again(int);", last]
    for number in range(1, deep):
        call = f"made{number - 1}(a)"
        lines.append(f"static int *made{number}(int a) {{ {body.format(number, call, call)} }}")
    lines.append(f"static int *again(int a) {{ return made{deep - 1}(a - 1); }}")
    lines.append(f"int main(void) {{ int *p = made{deep - 1}(7); int *q = malloc(4); return p == q; }}")
    program = with_values(program_of("\n".join(lines)))
    calls = [edge.effect for edge in program.functions["main"].calls if isinstance(edge.effect, ir.Call)]
    looked: set[str] = set()
    return gives(program, calls[0], calls[1], looked), looked


@pytest.mark.parametrize(("last", "body", "expected"), [(_MADE, _TWICE, True), (_KEPT, _TWICE, False), (_OTHER, _TWICE, False)])
def test_a_result_that_many_functions_hand_on(last: str, body: str, expected: bool) -> None:
    found, looked = _gives(last, body, 400)
    assert found == expected
    assert len([name for name in looked if "made" in name]) == 400


def test_what_a_function_calls_and_does_not_hand_on_is_not_asked() -> None:
    found, looked = _gives(_MADE, "made0(a); return made0({0} * a);", 3)
    assert found
    assert len(looked) == 2


def test_what_recursion_gives_is_not_looked_into() -> None:
    found, looked = _gives(_MADE, _AGAIN, 3)
    assert not found
    assert len(looked) == 4
