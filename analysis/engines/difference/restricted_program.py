"""Conditional verification for every engine alike: the program that walks with the condition's automaton.

Conditional model checking composes the analysis with the automaton of the condition and does not follow a path any more once the
automaton accepts it ([DIFFDP] section 2). All engines follow the edges of CFAs: the location component of the composite CPA, the
rule automata, the clauses, the runs, and the checker of certificates. So the composition is made where all of them look, once: in
the CFAs. An edge that only covered paths take (`left_edges`) is not there; of a branch, it leads to a location where nothing
follows, so that runs that take it end.

Locations, edges and functions keep their names, and all tables of places stay valid. What is left does a little more than the
condition says (a covered path may go on where another one that is not covered comes along as well), and never less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.engines.difference.difference_condition import Condition
from analysis.engines.difference.left_edges import all_edges_from, left_edges
from analysis.model import ir


def restricted(program: Program, conditions: Mapping[str, Condition], entries: Iterable[str]) -> Program:
    """The program without what the conditions of its entries cover. From entries without a condition, nothing is covered."""
    left = left_edges(program, conditions.values())
    whole = all_edges_from(program, [name for name in entries if name not in conditions])
    functions = {name: _restricted(cfa, left[name] | whole[name]) for name, cfa in program.functions.items()}
    return Program(
        functions, program.globals, program.externals, program.records, program.address_taken, exposed(program), program.called
    )


def _restricted(cfa: Cfa, left: frozenset[int]) -> Cfa:
    if len(left) == len(cfa.edges):
        return cfa
    return cfa.with_edges(tuple(_edges(cfa, left)))


def _edges(cfa: Cfa, left: frozenset[int]) -> Iterator[Edge]:
    end = cfa.next_location
    for edge in cfa.edges:
        if edge.id in left:
            yield edge
        elif isinstance(edge.effect, ir.Assume) and any(other.id in left for other in cfa.outgoing[edge.source]):
            yield Edge(edge.id, edge.source, end, edge.effect)
