"""Programs that are written to be misread: what has a defect is never safe, what has none is never said to violate the rule,
and is proved, whatever the engine and the encoding. Each is compiled and run under sanitizers, to be what it says it is.

Classes: initialisers that override others; which definition of a name prevails, and what else a name may stand for; code before
and after `main`; lengths of arrays that are evaluated; attributes, sections, pragmas and assembler names that are not
understood; names that look like those of harmless functions; words in literals that mean something outside of them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.certificate.checker import check
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding, unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.graph import Program
from analysis.cli.certifying import read_program
from analysis.cpa.predicates.violations import Property, violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove as prove_by_predicates
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, Undecided, decide_program
from analysis.engines.symbolic.cegar import CegarOptions
from analysis.engines.symbolic.cegar import prove as prove_by_constraints
from analysis.engines.value.value_proof import prove as prove_by_values
from analysis.model.c_types import LP64
from analysis.model.options import Options
from tests.support.explorations import program_of
from tests.support.misread import Trap, run_with_sanitizers, traps

_KINDS = ("initialisers", "linkage", "lengths", "attributes", "names", "memory", "literals")
_TRAPS = [trap for kind in _KINDS for trap in traps(kind)]
_PROPERTIES = frozenset(("assertion", "division-by-zero", "null-dereference", "array-bounds", "uninitialized-read"))
_SECONDS = 3.0


def _proofs(program: Program, rule: str, seconds: float) -> dict[str, Proved | Unproved]:
    """What each engine says, with each encoding of integers."""
    wanted = violations(program, msgspec.convert(rule, Property))
    found: dict[str, Proved | Unproved] = {"value": prove_by_values(program, wanted, seconds=seconds)}
    for mode in ("int", "bv"):
        predicates, constraints = PredicateOptions(mode=mode, seconds=seconds), CegarOptions(mode=mode, seconds=seconds)
        found[f"predicate {mode}"] = prove_by_predicates(program, wanted, options=predicates)
        found[f"symbolic {mode}"] = prove_by_constraints(program, wanted, options=constraints)
    return found


def _tree(program: Program, rule: str) -> Unwinding | None:
    """The tree of all paths as a proof, if it is accepted."""
    left = iter(range(500))
    claim = Unwinding("main", (rule,), (), 0)
    try:
        made = unwind(program, claim, LP64, 2_000, lambda: next(left, None) is not None)
        check_unwinding(program, made)
    except RefusedError:
        return None
    return made


@pytest.mark.parametrize("trap", _TRAPS, ids=lambda trap: trap.name)
def test_the_program_is_what_it_says(trap: Trap, tmp_path: Path) -> None:
    ended = run_with_sanitizers(trap, tmp_path)
    assert (ended.returncode >= 0 and not ended.stderr) == trap.is_safe, ended.stderr


@pytest.mark.parametrize("trap", _TRAPS, ids=lambda trap: trap.name)
def test_no_engine_is_misled(trap: Trap, tmp_path: Path) -> None:
    program = read_program(tuple(trap.write(tmp_path)), Options())
    decided = decide_program(ProgramTask(program, frozenset((trap.rule,)), Effort(seconds=_SECONDS, runs=8, states=400)))
    tree = _tree(program, trap.rule)
    proofs = _proofs(program, trap.rule, _SECONDS) if trap.rule in _PROPERTIES else {}
    proved = [engine for engine, found in proofs.items() if isinstance(found, Proved)]
    if trap.is_safe:
        assert not isinstance(decided, Confirmed), decided
        assert proved or tree is not None, (decided, proofs)
        for engine in proved:
            check(program, proofs[engine].annotation)
    else:
        assert not proved
        assert tree is None


def test_an_indeterminate_pointer_need_not_be_a_block() -> None:
    program = program_of("void free(void *); int main(void) { int *p; if (p != 0) free(p); return 0; }")
    decided = decide_program(ProgramTask(program, frozenset(("invalid-free",)), Effort(seconds=_SECONDS, runs=8, states=400)))
    assert not isinstance(decided, Refuted)
    assert _tree(program, "invalid-free") is None


def test_a_run_takes_no_value_for_an_initialiser_that_is_not_kept() -> None:
    text = "void reach_error(void); static int *p = (int[]){42}; int main(void) { if (*p != 42) reach_error(); return 0; }"
    decided = decide_program(
        ProgramTask(program_of(text), frozenset(("assertion",)), Effort(seconds=_SECONDS, runs=8, states=400))
    )
    assert isinstance(decided, Undecided)
