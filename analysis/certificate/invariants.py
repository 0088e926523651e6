"""What a proof says of the loops of a function, in C: its invariants, for people (`c_syntax`).

An assertion at the head of a loop holds whenever a run gets there. Where calls are inlined, a function is in several contexts:
then one of the assertions holds. What is said follows from the proof; what cannot be said in C is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.certificate.annotation import Annotation, Proof
from analysis.certificate.c_syntax import Conditions, joined
from analysis.certificate.c_values import Name
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.model import ir
from analysis.model.c_types import Array, DataModel, Integer, Pointer, Record, Type
from analysis.model.spelling import display_name
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.vocabulary import Vocabulary


def invariants(program: Program, proof: Proof, function: str, model: DataModel) -> dict[int, str]:
    """What holds at the heads of the loops of a function, by location; heads of which nothing can be said are left out."""
    vocabulary = Vocabulary(program, proof.mode, model, exposed(program))
    found = {}
    for head in sorted(loop_heads(program.functions[function])):
        said = [Conditions(names(vocabulary, function, prefix)).said(term) for prefix, term in _at(proof, function, head)]
        text = joined(parts for parts in said if parts != ["0"]) if said else ""
        if text and text != "0":
            found[head] = text
    return found


def _at(proof: Proof, function: str, head: int) -> Iterator[tuple[str, Term]]:
    """The assertions at a location, and what the names of the function's variables begin with in each. Those of summaries, which
    speak of what variables were at the entry, are not shown."""
    if not isinstance(proof, Annotation):
        return
    for number, stack in enumerate(proof.contexts):
        inside = proof.entry if stack is None else stack.call.callee
        if inside == function and (number, head) in proof.assertions:
            yield f"{number}:", proof.assertions[number, head]


def names(vocabulary: Vocabulary, function: str, prefix: str) -> dict[Term, Name]:
    """How the state variables of a function and the global ones are written there, those left out that another one hides."""
    found: dict[Term, Name] = {}
    hidden: set[str] = set()
    for owner, start in ((function, prefix), ("", "@")):
        variables = [(name, type_) for name, type_ in vocabulary.objects.locals(owner) if not name.startswith("$")]
        own = [display_name(name) for name, _ in variables]
        hidden |= {name for name in own if own.count(name) > 1}
        for name, type_ in variables:
            written = display_name(name)
            if written not in hidden:
                found.update(_parts(vocabulary, owner, name, written, start, type_))
        hidden |= set(own)
    return found


def _parts(vocabulary: Vocabulary, owner: str, name: str, written: str, start: str, type_: Type) -> Iterator[tuple[Term, Name]]:
    objects = vocabulary.objects
    kind = objects.kind(owner, ir.Var(name, "local" if owner else "global", type_))
    if kind == "elements" and isinstance(type_, Array) and isinstance(type_.element, Integer):
        variable = vocabulary.variable(f"{start}{name}", type_.element, is_array=True)
        yield vocabulary[variable], Name(written, type_.element, is_array=True)
    elif kind == "cells":
        for cell, of in objects.cells(f"{start}{name}", type_):
            bit = 0 if cell == f"{start}{name}" else int(cell.rpartition(".")[2])
            path = _path(vocabulary, type_, bit)
            if path is not None and isinstance(of, Integer | Pointer):
                yield vocabulary[vocabulary.variable(cell, of)], Name(written + path, of)


def _path(vocabulary: Vocabulary, type_: Type, bit: int) -> str | None:
    """The member or element that begins at a bit, as it follows the name of the object; None for what has no name."""
    layout = vocabulary.objects.layout
    if isinstance(type_, Array):
        size = layout.size(type_.element)
        if not size:
            return None
        rest = _path(vocabulary, type_.element, bit % size)
        return None if rest is None else f"[{bit // size}]{rest}"
    if not isinstance(type_, Record):
        return "" if bit == 0 else None
    definition = layout.definition(type_)
    for member in definition.members if definition is not None and definition.kind == "struct" else ():
        offset = layout.member(type_, member.name, member.type)
        size = layout.size(member.type) if member.bits is None else member.bits
        if member.name and offset is not None and size and offset <= bit < offset + size:
            rest = _path(vocabulary, member.type, bit - offset)
            return None if rest is None else f".{member.name}{rest}"
    return None
