"""Functions that allocate memory of an alignment: with one that they cannot meet, a run fails or is not made.

The class: memory that is there where the library gives none, or lies where it cannot.
"""

from __future__ import annotations

import pytest

from analysis.interpreter.outcome import NotModelled, Returned
from analysis.model.c_types import ILP32, LP64, DataModel
from tests.support.runs import main_of, run_of

FUNCTIONS = "void *aligned_alloc(size_t, size_t); void *memalign(size_t, size_t); int posix_memalign(void **, size_t, size_t);"
EINVAL = 22


@pytest.mark.parametrize(
    ("model", "alignment", "value"),
    [
        (LP64, 0, EINVAL),
        (LP64, 3, EINVAL),
        (LP64, 4, EINVAL),
        (ILP32, 4, 0),
        (LP64, 24, EINVAL),
        (LP64, 8, 0),
        (LP64, 4096, 0),
    ],
)
def test_posix_memalign_refuses_alignments(model: DataModel, alignment: int, value: int) -> None:
    text = main_of(
        f"void *p = 0; int failed = posix_memalign(&p, {alignment}, 8); return (p == 0) == (failed != 0) ? failed : -1;",
        FUNCTIONS,
    )
    text = text.replace("unsigned long", "unsigned")
    assert run_of(text, model=model).end == Returned(value)


@pytest.mark.parametrize("name", ["aligned_alloc", "memalign"])
@pytest.mark.parametrize(("alignment", "is_modelled"), [(0, False), (3, False), (24, False), (1, True), (16, True), (4096, True)])
def test_libraries_differ_in_alignments_that_are_none(name: str, alignment: int, is_modelled: bool) -> None:
    end = run_of(main_of(f"return {name}({alignment}, 8) == 0;", FUNCTIONS)).end
    assert end == Returned(0) if is_modelled else isinstance(end, NotModelled)


@pytest.mark.parametrize("call", ["aligned_alloc(8192, 8)", "memalign(65536, 8)", "posix_memalign(&p, 65536, 8)"])
def test_blocks_do_not_lie_at_addresses_of_greater_alignments(call: str) -> None:
    assert isinstance(run_of(main_of(f"void *p = 0; return {call} == 0;", FUNCTIONS)).end, NotModelled)
