"""Edges in sentences. The code that finds out why something is not proved knows an edge. The code that shows the reason to a
person knows files and lines.

So a reason holds a *mark* for the edge. `with_places` replaces it by the file, the line and the construct. A mark counts edges by
their position, because an unchanged function can have other ids in another revision.
"""

from __future__ import annotations

import re

from analysis.cfa.failed_assertions import failed_condition
from analysis.cfa.graph import Cfa, Places, Program
from analysis.cfa.unnamed_values import LONGEST, origin, with_origins
from analysis.cfa.written_steps import written_step
from analysis.model import ir
from analysis.model.spelling import display_name, spell_effect

A_VALUE = "a value"
_MARK = re.compile("⟦([^⟦⟧]*)⟧([0-9]+)⟧")
_UNNAMED = re.compile(r"`(\$[0-9]+)`")


def marked(program: Program, function: str, edge: int) -> str:
    """The mark of an edge, given by its id. KeyError for an unknown one."""
    cfa = program.functions[function]
    return f"⟦{function}⟧{cfa.edges.index(cfa.by_id[edge])}⟧"


def marks_in(text: str) -> frozenset[str]:
    """The marks in a text."""
    return frozenset(found[0] for found in _MARK.finditer(text))


def is_marked(text: str) -> bool:
    """Whether the text has a mark."""
    return _MARK.search(text) is not None


def with_places(text: str, program: Program, places: Places | None) -> str:
    """The text as people read it: `file.c:12 (x = a / b)` for each mark; without `places`, `main() (x = a / b)`. An edge that is
    not there any more is only named by its function."""

    def place(mark: re.Match[str]) -> str:
        function, position = mark[1], int(mark[2])
        cfa = program.functions.get(function)
        if cfa is None or position >= len(cfa.edges):
            return f"{display_name(function)}()"
        edge = cfa.edges[position]
        where = f"{display_name(function)}()"
        if places is not None:
            found = places.place(function, edge.id)
            where = f"{found.path}:{found.range.start.line}"
        condition = failed_condition(edge.effect)
        spelled = f"assert({condition})"
        if condition is None:
            written = None if places is None else places.written(function, edge.id)
            if isinstance(edge.effect, ir.Assume):  # which of two branches
                spelled, _ = written_step(edge.effect, written, cfa)
            else:
                spelled = (written or "").rstrip("; ") or with_origins(spell_effect(edge.effect), cfa)
        return f"{where} ({spelled if len(spelled) <= LONGEST else spelled[: LONGEST - 3] + '...'})"

    return _MARK.sub(place, _named(text, program)) if "⟦" in text else text


def _named(text: str, program: Program) -> str:
    """The text with words for the temporaries in it, which are those of the function that the next mark is in."""
    if "$" not in text:
        return text
    parts, at = [], 0
    for mark in _MARK.finditer(text):
        parts.append(_in_words(text[at : mark.start()], program.functions.get(mark[1])) + mark[0])
        at = mark.end()
    return "".join(parts) + text[at:]


def _in_words(text: str, cfa: Cfa | None) -> str:
    """A part of a reason about a function: a temporary that is quoted is what the program has in its place, or just a value."""
    if cfa is None:
        return _UNNAMED.sub(A_VALUE, text)
    text = _UNNAMED.sub(lambda found: A_VALUE if origin(cfa, found[1]) is None else found[0], text)
    return with_origins(text, cfa, len(text) + LONGEST)
