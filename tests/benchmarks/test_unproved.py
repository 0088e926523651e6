"""The counting of reasons: what differs between functions only by names and places is one reason."""

import pytest

from benchmarks.unproved import general


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("`c->fd` may be null at ⟦f⟧12⟧", "`…` may be null"),
        ("`p` is freed, and comes from the caller, who may have freed it before, at ⟦a.c::g⟧3⟧",
         "`…` is freed, and comes from the caller, who may have freed it before"),
        ("f() contains operands that C may evaluate in either order (g() and `x`), and the order may matter",
         "…() contains operands that C may evaluate in either order, and the order may matter"),
        ("main() calls f(), and is not followed", "…() calls …(), and is not followed"),
    ],
)  # fmt: skip
def test_names_and_places_are_left_out(reason: str, said: str) -> None:
    assert general(reason) == said
