"""Terms as SMT-LIB 2.6 text: for people, for `dump formula`, and for certificates.

What is used more than once is written once, bound by `let`, so that the text is linear in the size of the term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from analysis.smt.logic.terms import Sort, Term, subterms, symbols

_SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*\Z")
_RESERVED = frozenset(("let", "forall", "exists", "match", "par", "as", "true", "false", "not", "and", "or", "ite", "_", "!"))
_LEAVES = frozenset(("symbol", "value"))


def write(term: Term) -> str:
    """The term as text."""
    uses: dict[Term, int] = {}
    order = list(subterms((term,)))
    for part in order:
        for argument in part.args:
            uses[argument] = uses.get(argument, 0) + 1
    text: dict[Term, str] = {}
    bindings: list[tuple[str, str]] = []
    for part in order:
        written = _written(part, [text[a] for a in part.args])
        if uses.get(part, 0) > 1 and part.op not in _LEAVES:
            name = f"?{len(bindings)}"
            bindings.append((name, written))
            written = name
        text[part] = written
    opened = "".join(f"(let (({name} {bound})) " for name, bound in bindings)
    return opened + text[term] + ")" * len(bindings)


def script(formulas: Iterable[Term]) -> str:
    """The formulas as a script that declares their symbols, asserts them and checks."""
    asserted = tuple(formulas)
    lines = ["(set-logic ALL)"]
    lines += [f"(declare-const {name(symbol)} {symbol.sort})" for symbol in symbols(asserted)]
    lines += [f"(assert {write(formula)})" for formula in asserted]
    return "\n".join([*lines, "(check-sat)", ""])


def name(symbol: Term) -> str:
    """A symbol's name, quoted where it must be. The characters that quotes cannot hold are written as their code."""
    text = str(symbol.data)
    if _SIMPLE.match(text) and text not in _RESERVED:
        return text
    return "|" + text.replace("\\", "%5c").replace("|", "%7c") + "|"


def _written(term: Term, arguments: list[str]) -> str:
    if term.op == "symbol":
        return name(term)
    if term.op == "value":
        return _value(term.sort, term.data)
    if term.op == "const":
        return f"((as const {term.sort}) {arguments[0]})"
    if term.op in ("extract", "zero_extend", "sign_extend") and isinstance(term.data, tuple):
        return f"((_ {term.op} {' '.join(map(str, term.data))}) {arguments[0]})"
    return f"({term.op} {' '.join(arguments)})"


def _value(sort: Sort, data: object) -> str:
    if sort.kind == "Bool":
        return "true" if data else "false"
    if sort.kind == "BitVec":
        return f"(_ bv{data} {sort.width})"
    if isinstance(data, tuple):
        above, below = data
        text = f"{abs(above)}.0" if below == 1 else f"(/ {abs(above)}.0 {below}.0)"
        return text if above >= 0 else f"(- {text})"
    return str(data) if isinstance(data, int) and data >= 0 else f"(- {abs(int(str(data)))})"
