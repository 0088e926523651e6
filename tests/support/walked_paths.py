"""Paths through small C programs as formulas, for tests: one path is followed, its formula asked of a solver."""

import re

import pytest
from support.lowered import unit_of

from analysis.cfa.linking.link import link
from analysis.model import ir
from analysis.model.c_types import LP64
from analysis.model.spelling import spell_effect
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.logic.term_building import distinct, number
from analysis.smt.solving.z3_backend import Z3Solver

MODES = pytest.mark.parametrize("mode", ["int", "bv"])
SOLVER = Z3Solver()
HEAD = """typedef unsigned long size_t; void *malloc(size_t); void *calloc(size_t, size_t); void free(void *);
  void *realloc(void *, size_t); void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t); int nondet(void);
  void show(int *); void reach_error(void); void __VERIFIER_assume(int); struct pair { int first, second; struct pair *next; };
"""


def program_of(text, model=LP64):
    return link([unit_of(HEAD + text, model=model)]).program


def walk(program, mode, *, entry="f", branches="", calls=True, model=LP64, stop=None, **options):
    """Follows one path: `branches` says which branch to take where there are two (t, f), in order; defined functions are entered.
    `stop` is a pattern: the walk ends before the first edge that is spelled so, and gives the edge, too."""
    encoder = PathEncoder(program, mode, model, **options)
    encoder.start(entry)
    turns = iter(branches)
    stack = []
    location = program.functions[entry].entry
    while True:
        cfa = program.functions[encoder.function]
        edges = cfa.outgoing.get(location, ())
        if len(edges) > 1:
            wanted = next(turns) == "t"
            edges = tuple(e for e in edges if isinstance(e.effect, ir.Assume) and e.effect.truth == wanted)
        if not edges:
            return encoder
        (edge,) = edges
        if stop is not None and encoder.depth == 0 and re.search(stop, spell_effect(edge.effect)):
            return encoder, edge
        callee = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        if calls and callee in program.functions:
            encoder.enter(edge, callee)
            stack.append(edge.target)
            location = program.functions[callee].entry
            continue
        encoder.take(edge)
        location = edge.target
        if isinstance(edge.effect, ir.Return):
            if not stack:
                return encoder
            encoder.leave()
            location = stack.pop()


def status(encoder, *more):
    SOLVER.push()
    SOLVER.add(*encoder.formula().conjuncts, *more)
    answer = SOLVER.check().status
    SOLVER.pop()
    return answer


def returned(text, mode, **options):
    """The value that the path returns if it is the only one possible, else None."""
    options.setdefault("model", LP64)
    encoder, edge = walk(program_of(text, options["model"]), mode, stop="^return", **options)
    term = encoder.value(edge.effect.value)
    SOLVER.push()
    SOLVER.add(*encoder.formula().conjuncts)
    assert SOLVER.check().status == "sat"
    value = SOLVER.model().value(term)
    other = SOLVER.check(distinct(term, number(value, term.sort))).status
    SOLVER.pop()
    return signed(value, term) if other == "unsat" else None


def signed(value, term):
    """The number that a term's bits are, with a sign."""
    width = term.sort.width
    return value - (1 << width) if width and value >> (width - 1) else value
