"""Where executions start (DESIGN.md section 6): `main` if there is one, else every function nobody in the program calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.report import Message
from analysis.model.spelling import display_name


def choose_entries(program: Program, wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """The linkage names of the entry functions, in alphabetical order, and a message for each wanted name there is none of.

    A wanted name may be a static function's; then every function of that name is an entry.
    """
    if wanted:
        return _named(program, wanted)
    if "main" in program.functions:
        return ("main",), ()
    called = {target for cfa in program.functions.values() for call in _calls(cfa) for target in _callees(program, cfa.name, call)}
    roots = tuple(sorted(name for name in program.functions if name not in called))
    # A program in which everything is called by something, as two functions that call each other, is entered anywhere.
    return roots or tuple(sorted(program.functions)), ()


def _calls(cfa: Cfa) -> Iterator[ir.Call]:
    return (edge.effect for edge in cfa.edges if isinstance(edge.effect, ir.Call))


def _callees(program: Program, caller: str, call: ir.Call) -> Sequence[str]:
    """The functions that a call reaches, without the caller: who only calls itself is still called by nobody."""
    return [target for target in program.targets(call) if target != caller]


def _named(program: Program, wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    entries: set[str] = set()
    messages: list[Message] = []
    for name in wanted:
        found = [link for link in program.functions if link == name or display_name(link) == name]
        entries.update(found)
        if not found:
            text = f"There is no function {name} to enter: --entry takes the name of a function that the files define."
            messages.append(Message("error", "", text))
    return tuple(sorted(entries)), tuple(messages)
