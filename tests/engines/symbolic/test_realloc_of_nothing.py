"""`realloc` of size 0 may end the block and return null, keep it and return null, or return a new block (C11 7.22.3p1, 7.22.3.5).

The class: what a library may do, of which formulas, runs and branches of allocations each knew another part.
"""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, decide_program
from analysis.engines.symbolic.task import Decision
from tests.support.runs import program_of

_SIZE = "int n = __VERIFIER_nondet_int(); size_t size = n == 123456789 ? 0 : 8;"
_ALLOCATED = "char *p = malloc(4); if (!p) return 0;"


def decided(rule: str, body: str, *, fails: bool = True) -> Decision:
    program = program_of(f"int main(void) {{ {_SIZE} {_ALLOCATED} {body} return 0; }}")
    return decide_program(ProgramTask(program, frozenset({rule}), Effort(seconds=60, states=2_000), allocation_fails=fails))


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("size", ["size", "0", "n - n"])
@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("double-free", "char *q = realloc(p, SIZE); if (!q) free(p); else free(q);"),
        ("use-after-free", "char *q = realloc(p, SIZE); if (!q) { *p = 1; free(p); } else free(q);"),
        ("assertion", "if (!realloc(p, SIZE) && SIZE == 0) reach_error();"),
    ],
)
def test_what_glibc_does_is_found(rule: str, body: str, size: str, fails: bool) -> None:
    found = decided(rule, body.replace("SIZE", size), fails=fails)
    assert isinstance(found, Confirmed), found
    assert any("glibc" in text for text in found.assumptions)


@pytest.mark.parametrize("size", ["size", "0"])
@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("assertion", "if (realloc(p, SIZE) && SIZE == 0) reach_error();"),
        ("memory-leak", "char *q = realloc(p, SIZE); if (q) free(q); else if (SIZE) free(p);"),
        ("memory-leak", "char *q = realloc(p, SIZE); if (!q && SIZE) free(p); if (SIZE) free(q);"),
    ],
)
def test_what_others_do_is_not_refuted(rule: str, body: str, size: str) -> None:
    found = decided(rule, body.replace("SIZE", size))
    assert not isinstance(found, Refuted), found


@pytest.mark.parametrize("size", ["8", "size + 1", "n ? 4 : 8"])
def test_other_sizes_keep_or_move(size: str) -> None:
    body = f"char *q = realloc(p, {size}); if (!q) free(p); else free(q);"
    for rule in ("double-free", "memory-leak"):
        assert isinstance(decided(rule, body), Refuted), rule
