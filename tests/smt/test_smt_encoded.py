"""Random functions: what the compiled code returns is what the formulas say, and nothing else."""

import random

from analysis.smt.solving.z3_backend import Z3Solver
from benchmarks.encoded import cases, program_of, verdict

COUNT = 100  # in two encodings each


def test_formulas_agree_with_the_compiler():
    text, found = cases(COUNT, random.Random(20261121))
    program = program_of(text)
    solver = Z3Solver()
    verdicts = [verdict(program, case, mode, solver) for case in found for mode in ("int", "bv")]
    assert [v for v in verdicts if v.is_wrong] == []
    assert sum(v.outcome == "agrees" for v in verdicts) >= 1.8 * COUNT
