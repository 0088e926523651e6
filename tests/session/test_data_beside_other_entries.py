"""What the data of a program always holds in runs from `main` proves functions of such runs, though other programs may call
functions beside them: a library often lies beside a demo. Nothing of that is said of functions that are entered there, too, nor
where another `main` is."""

from __future__ import annotations

import pytest

from analysis.cfa.linking.link import link
from analysis.cpa.framework.algorithm import Cancellation
from analysis.session.entries import choose_entries
from analysis.session.portfolio import contract_proofs
from analysis.session.portfolio.kept_data import KeptData
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About
from tests.support.lowered import unit_of

_RULE = "null-dereference"
_DEMO = """void *malloc(unsigned long); int atexit(void (*)(void)); void other(void);
struct s { int *p; }; static int z; static struct s *all;
static void use(void) { if (all) *all->p = 1; }
void lose(void) { if (all) all->p = 0; }
int main(void) { struct s *x = malloc(sizeof *x); if (!x) return 1; x->p = &z; all = x; use(); return 0; }
"""


def _proved(source: str, entries: tuple[str, ...] = ()) -> set[str]:
    """The functions of which the rule is proved, in runs from main at least."""
    program = link([unit_of(source)]).program
    names = entries or choose_entries(program, ()).names
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contract_proofs, "HERE", KeptData())
        found = contract_proofs.prove(Request(program, names, About("contracts", (_RULE,))), 1000.0, Cancellation())
        return {one.function.rpartition("::")[2] for one in found if isinstance(one.answer, Proved)}


def test_functions_beside_main_are_not_run_by_it() -> None:
    assert "use" in _proved(_DEMO)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("it is entered there, too", "all->p = 0; }", "all->p = 0; use(); }"),
        ("main runs it", "use(); return", "lose(); use(); return"),
        ("main may run it", "use(); return", "atexit(lose); atexit(use); return"),
        ("what is not known may run it", "use(); return", "other(); use(); return"),
        ("a pointer may lead to it", "int main(void) {", "void (*hook)(void) = lose; int main(void) { hook();"),
    ],
    ids=lambda one: one if len(one) < 30 else "",
)  # fmt: skip
def test_what_else_may_run_counts(name: str, old: str, new: str) -> None:
    assert old in _DEMO, name
    assert "use" not in _proved(_DEMO.replace(old, new))


def test_nothing_is_said_beside_the_main_of_another_program() -> None:
    assert "use" not in _proved(_DEMO, ("main", "main~other.c"))
