"""Texts that a program compares what it is given with: a word of the command line, or of a file, is mostly one of these where a
run is to go on (`single_faults`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from analysis.cfa.graph import Cfa, Program
from analysis.frontend.declarations.literal_values import string_bytes
from analysis.interpreter.outcome import Step
from analysis.model import ir

_COMPARING = frozenset(("strcmp", "strncmp", "strcasecmp", "strncasecmp", "memcmp", "strstr"))
_MOST = 16  # texts that are tried for one word
_LONGEST = 32  # characters of a text


def texts_near(program: Program, path: Sequence[Step]) -> Callable[[str], tuple[bytes, ...]]:
    """The texts that a function compares with, by the name of the function: on the path, its end before its beginning; without a
    path through such a comparison, anywhere."""
    on_path = dict[bytes, None]()
    for step in reversed(path):
        cfa = program.functions.get(step.function)
        if cfa is not None and step.edge in cfa.by_id:
            on_path.update(dict.fromkeys(_compared(cfa.by_id[step.edge].effect)))

    @cache
    def of(name: str) -> tuple[bytes, ...]:
        cfa = program.functions.get(name)
        here = () if cfa is None else tuple(_in(cfa))
        return tuple([text for text in on_path if text in here] or dict.fromkeys(here))[:_MOST]

    return of


def _in(cfa: Cfa) -> Iterator[bytes]:
    for edge in cfa.calls:
        yield from _compared(edge.effect)


def _compared(effect: ir.Effect) -> Iterator[bytes]:
    if isinstance(effect, ir.Call) and ir.direct_callee(effect) in _COMPARING:
        for argument in effect.arguments[:2]:
            literal = ir.strip_casts(argument)
            if isinstance(literal, ir.StringConst):
                text = (string_bytes(literal.text) or b"").partition(b"\0")[0]
                if 0 < len(text) <= _LONGEST:
                    yield text
