"""Certificates that are changed at random: whatever is accepted claims only what is true, and says of states only what holds.

The class: a checker that can be talked into more than was proved. The program has a place that holds, which is what the
accepted certificate is about, and one that fails; its runs are simulated here, so that each assertion that is accepted can be
compared with the states at the head of its loop.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from analysis.certificate import text
from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved
from analysis.certificate.checker import check
from analysis.certificate.refusal import RefusedError
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import integer, not_, symbol
from analysis.smt.logic.terms import INT
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver
from tests.support.explorations import program_of

SOURCE = """
void reach_error(void); int __VERIFIER_nondet_int(void);
static void holds(int a, int b) { if (a != b) reach_error(); }
static void fails(int a) { if (a == 3) reach_error(); }
int main(void) {
    int i = 0, n = __VERIFIER_nondet_int();
    if (n < 0 || n > 10) return 0;
    while (i < n) i++;
    holds(i, n);
    fails(i);
    return 0;
}
"""
OF = program_of(SOURCE)
PLACES = {place.function.rpartition("::")[2]: place for place in violations(OF, "assertion")}
HEAD = next(iter(loop_heads(OF.functions["main"])))
NAMES = ("0:i", "0:n", "1:a", "1:b", "2:a", "input!1", "input!2", "value!3", "choice!1", "old:0:i", "#next", "@i", "x")
FORMULAS = ("true", "false", "(<= |0:i| |0:n|)", "(= |0:i| |0:n|)", "(< |0:i| |0:n|)", "(<= 0 |0:i|)", "(not (= |0:i| 3))")


def _proved() -> dict[str, Any]:
    found = prove(OF, (PLACES["holds"],), options=PredicateOptions(mode="int", seconds=300.0))
    assert isinstance(found, Proved), found
    return json.loads(text.write([found.annotation], OF, "LP64"))  # type: ignore[no-any-return]


CERTIFICATE = _proved()


def _edges(random: Random, proof: dict[str, Any]) -> None:
    known = [[place.function, place.edge] for place in PLACES.values()]
    proof["edges"] = random.choice([known, known[:1], known[1:], [], [*proof["edges"], *known], [["main", random.randint(0, 9)]]])


def _formula(random: Random, proof: dict[str, Any]) -> None:
    if proof["assertions"]:
        row = random.choice(proof["assertions"])
        old = row["formula"]
        row["formula"] = random.choice([*FORMULAS, f"(not {old})", f"(or {old} {random.choice(FORMULAS)})", f"(and {old} {old})"])
        proof["symbols"] |= {name: "Int" for name in NAMES if f"|{name}|" in row["formula"]}


def _number(random: Random, proof: dict[str, Any]) -> None:
    for row in proof["assertions"]:
        row["formula"] = row["formula"].replace(str(random.randint(0, 10)), str(random.randint(0, 10)))


def _name(random: Random, proof: dict[str, Any]) -> None:
    old, new = random.choice(NAMES), random.choice(NAMES)
    for row in proof["assertions"]:
        row["formula"] = row["formula"].replace(f"|{old}|", f"|{new}|")
    proof["symbols"][new] = random.choice(["Int", "Int", "Bool", "(_ BitVec 32)"])


def _row(random: Random, proof: dict[str, Any]) -> None:
    rows = proof["assertions"]
    change = random.randrange(3)
    if rows and change == 0:
        rows.pop(random.randrange(len(rows)))
    elif rows and change == 1:
        random.choice(rows)["location"] = random.randint(0, 12)
    else:
        rows.append({"context": random.randint(0, 3), "location": random.randint(0, 12), "formula": random.choice(FORMULAS)})
        proof["symbols"] |= {"0:i": "Int", "0:n": "Int"}


def _context(random: Random, proof: dict[str, Any]) -> None:
    rows = proof["contexts"]
    if rows and random.random() < 0.5:
        rows.pop(random.randrange(len(rows)))
    else:
        functions = sorted(OF.functions)
        rows.append([random.randint(-1, 3), random.choice(functions), random.randint(0, 9), random.choice(functions)])


def _field(random: Random, proof: dict[str, Any]) -> None:
    name, values = random.choice(
        [
            ("entry", sorted(OF.functions)),
            ("property", ["assertion", "division-by-zero", "null-dereference", "array-bounds"]),
            ("encoding", ["int", "bv"]),
            ("calls", ["inlined", "summaries"]),
        ]
    )
    proof[name] = random.choice(values)


CHANGES: tuple[Callable[[Random, dict[str, Any]], None], ...] = (_edges, _formula, _number, _name, _row, _context, _field)


def _holds_in_runs(annotation: Annotation) -> None:
    """What is said of the loop's head, in every state that a run reaches it in."""
    said = annotation.assertions.get((0, HEAD))
    for n in range(11) if said is not None and annotation.entry == "main" and annotation.mode == "int" else ():
        for i in range(n + 1):
            values = {symbol("0:i", INT): integer(i), symbol("0:n", INT): integer(n)}
            solver = Z3Solver()
            solver.add(not_(Substitution(values)(said)))
            assert solver.check(budget=Budget(10_000)).status == "unsat", (i, n, said)


@settings(max_examples=60)
@given(st.integers(0, 2**32))
@example(22843)  # an assertion that adds a number to bits
def test_what_is_accepted_is_true(seed: int) -> None:
    random = Random(seed)
    changed = copy.deepcopy(CERTIFICATE)
    for _ in range(random.randint(1, 4)):
        random.choice(CHANGES)(random, changed["proofs"][0])
    note(json.dumps(changed["proofs"][0]))
    try:
        (proof,) = text.read(json.dumps(changed), OF).annotations
        check(OF, proof)
    except RefusedError:
        return
    assert proof.edges
    assert set(proof.edges) <= {(place.function, place.edge) for place in violations(OF, proof.property)}
    false = (PLACES["fails"].function, PLACES["fails"].edge)
    assert false not in proof.edges or proof.entry == PLACES["holds"].function
    if isinstance(proof, Annotation):
        _holds_in_runs(proof)


def test_the_certificate_itself_is_accepted() -> None:
    (proof,) = text.read(json.dumps(CERTIFICATE), OF).annotations
    check(OF, proof)
    assert isinstance(proof, Annotation)
    _holds_in_runs(proof)
