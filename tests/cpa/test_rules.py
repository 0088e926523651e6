"""The automata of rules in symbolic executions: small programs, and fixtures of whole families."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.cpa.domains.rule_automaton import RuleStates
from analysis.cpa.framework.algorithm import Budget, explore, start
from analysis.cpa.framework.waitlist import SequentialWaitlist
from analysis.cpa.symbolic_values.symbolic_execution import RULES, SymbolicExecution, SymbolicOptions
from analysis.model import ir
from analysis.model.options import Options
from analysis.rules.load import load_rules
from tests.support.explorations import SOLVER, program_of
from tests.support.markers import read_markers

FIXTURES = Path(__file__).parent.parent.parent / "fixtures" / "programs"
HEAD = """typedef unsigned long size_t; void *malloc(size_t); void free(void *); int nondet(void); int *nondet_ptr(void);
int pthread_mutex_lock(int *); int pthread_mutex_unlock(int *); int pthread_mutex_trylock(int *); int lock, other;
void use(void *);
int open(const char *, int); int close(int);
"""


def violations(of: Program, rule: str, entry: str = "main", **options: Any) -> set[tuple[str, int]]:
    """Where the rule is violated: by function and edge."""
    rules, _ = load_rules(Options(rules=(rule,)))
    chosen = SymbolicOptions(whole=entry == "main", **options)
    execution = SymbolicExecution(of, SOLVER, {}, chosen, rules)
    composite = execution.composite
    reached, waitlist = start(composite, execution.initial(entry), composite.precision, SequentialWaitlist("breadth-first"))
    outcome = explore(composite, reached, waitlist, budget=Budget(states=400), stop_at_target=False)
    found: list[RuleStates] = [node.state[RULES] for node in outcome.reached.targets()]
    return {(state.violation.function, state.violation.edge) for state in found if state.violation is not None}


CASES = [
    ("double-free", "char *p = malloc(1); if (!p) return 1; free(p); char *q = p; free(q);", True),
    ("double-free", "char *p = malloc(1), *q = malloc(1); if (!p || !q) return 1; free(p); free(q);", False),
    ("double-free", "char *p = 0; free(p); free(p);", False),
    ("double-free", "char *p = malloc(1); if (!p) return 1; if (nondet()) free(p); else use(p); if (nondet()) free(p);", True),
    ("double-free", "char *p = malloc(1); int x = nondet(); if (!p) return 1; if (x > 3) free(p); if (x < 2) free(p);", False),
    ("null-dereference", "int *p = malloc(4); *p = 1; free(p);", True),
    ("null-dereference", "int *p = malloc(4); if (p) *p = 1; free(p);", False),
    ("null-dereference", "int *p = nondet_ptr(); if (p == 0) use(p); *p = 1;", True),
    ("null-dereference", "int *p = nondet_ptr(); int bad = 0; if (p == 0) bad = 1; if (!bad) *p = 1;", False),
    ("null-dereference", "int *p = nondet_ptr(); *p = 1;", False),
    ("memory-leak", "int *p = malloc(4); if (!p) return 1; *p = 1;", True),
    ("memory-leak", "int *p = malloc(4); free(p);", False),
    ("memory-leak", "int *p = malloc(4); use(p);", False),
    ("memory-leak", "malloc(4);", True),
    ("memory-leak", "int *p = malloc(4); p = malloc(4); free(p);", True),
    ("lock-discipline", "pthread_mutex_lock(&lock); pthread_mutex_lock(&lock);", True),
    (
        "lock-discipline",
        "pthread_mutex_lock(&lock); pthread_mutex_lock(&other); pthread_mutex_unlock(&other); pthread_mutex_unlock(&lock);",
        False,
    ),
    ("lock-discipline", "if (pthread_mutex_trylock(&lock) == 0) pthread_mutex_unlock(&lock);", False),
    ("lock-discipline", "if (pthread_mutex_trylock(&lock) != 0) pthread_mutex_unlock(&lock);", True),
    ("division-by-zero", "int d = nondet(); if (d == 0) use(0); return 1 / d;", True),
    ("division-by-zero", "int d = nondet(); if (d == 0) d = 1; return 1 / d;", False),
    ("resource-leak", 'int f = open("a", 0); if (f < 0) return 1; use(0);', True),
    ("resource-leak", 'int f = open("a", 0); if (f < 0) return 1; close(f);', False),
]


@pytest.mark.parametrize(("rule", "body", "expected"), CASES, ids=lambda x: str(x)[:50])
def test_violations(rule: str, body: str, expected: bool) -> None:
    of = program_of(HEAD + "int main(void) { " + body + " return 0; }")
    assert bool(violations(of, rule)) == expected


def test_the_violation_says_where() -> None:
    of = program_of(HEAD + "int main(void) { char *p = malloc(1); free(p); free(p); return 0; }")
    ((function, edge),) = violations(of, "double-free")
    assert function == "main"
    frees = [e.id for e in of.functions["main"].calls if isinstance(e.effect, ir.Call) and ir.direct_callee(e.effect) == "free"]
    assert edge == frees[1]


def test_pointers_of_a_caller_may_be_one_or_not() -> None:
    of = program_of(HEAD + "void both(char *p, char *q) { free(p); free(q); }")
    assert violations(of, "double-free", "both")
    assert not violations(of, "double-free", "both", aliases=False)


def test_automata_do_not_go_with_renamed_identifiers() -> None:
    of = program_of("int main(void) { return 0; }")
    with pytest.raises(ValueError, match="aliased"):
        violations(of, "double-free", less_or_equal="aliased")


def _wanted() -> list[Path]:
    """The programs without a defect that the automaton engine reports, and their twins with one."""
    good = [path for path in sorted(FIXTURES.glob("*/*-good.c")) if read_markers(path).later is not None]
    return [twin for path in good for twin in (path, path.with_name(path.name.replace("-good", "-bad")))]


@pytest.mark.parametrize("path", _wanted(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_automata_alone_cannot_tell(path: Path) -> None:
    expected = read_markers(path)
    checker = Checker(Options())
    checker.open([str(path)])
    of = checker.inspect().program
    called = {
        t for cfa in of.functions.values() for e in cfa.calls if isinstance(e.effect, ir.Call) for t in of.targets(e.effect)
    }
    entries = ["main"] if "main" in of.functions else [name for name in of.functions if name not in called]
    found = {place for entry in entries for place in violations(of, path.parent.name, entry)}
    assert bool(found) == bool(expected.findings)
