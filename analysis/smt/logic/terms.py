"""Terms of many-sorted first-order logic: what formulas are made of, without any solver.

The theories are those of SMT-LIB 2.6: Core, Ints, Reals, FixedSizeBitVectors and ArraysEx. A term is immutable and hash-consed:
two terms that are written alike are the same object in one process, so equality is identity and costs nothing. The
constructors of `analysis.smt.logic.term_building` simplify as they build; `Term` itself is the plain syntax tree.

Terms can be pickled (as a flat table, however deep they are) and have a `digest` that is the same in every process.
"""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

SortKind = Literal["Bool", "Int", "Real", "BitVec", "Array"]
Data = str | int | tuple[int, ...] | None


class Sort(msgspec.Struct, frozen=True, cache_hash=True):
    """A sort. `width` is that of bit-vectors, in bits; `index` and `element` are those of arrays."""

    kind: SortKind
    width: int = 0
    index: Sort | None = None
    element: Sort | None = None

    def __str__(self) -> str:
        match self.kind:
            case "BitVec":
                return f"(_ BitVec {self.width})"
            case "Array":
                return f"(Array {self.index} {self.element})"
            case _:
                return self.kind


BOOL = Sort("Bool")
INT = Sort("Int")
REAL = Sort("Real")


def bit_vector(width: int) -> Sort:
    """The sort of bit-vectors of a width of at least 1."""
    return _BIT_VECTORS.get(width) or _BIT_VECTORS.setdefault(width, Sort("BitVec", width))


_BIT_VECTORS: dict[int, Sort] = {}


def array(index: Sort, element: Sort) -> Sort:
    """The sort of arrays from `index` to `element`."""
    return Sort("Array", 0, index, element)


class Term:
    """A term: an operator of SMT-LIB applied to arguments.

    `op` is the operator's name in SMT-LIB ("and", "bvadd", "select"), or "symbol" (`data` is its name), or "value" (`data` is a
    number: of an Int, of a bit-vector as an unsigned number, 0 or 1 of a Bool, numerator and denominator of a Real). `data` also
    holds the numbers of indexed operators ("extract": high and low; "zero_extend", "sign_extend": by how many bits) and, for
    "const" arrays, nothing: their sort says which array it is.
    """

    __slots__ = ("__weakref__", "_digest", "args", "data", "op", "sort")

    op: str
    args: tuple[Term, ...]
    sort: Sort
    data: Data
    _digest: bytes | None

    def __new__(cls, op: str, args: tuple[Term, ...], sort: Sort, data: Data = None) -> Term:
        """The one term that is written so."""
        key = (op, args, sort, data)
        found = _REFERENCES.get(key)  # what `_TERMS.get` does, without calls in Python
        known = None if found is None else found()
        if known is None:
            known = object.__new__(cls)
            known.op, known.args, known.sort, known.data, known._digest = op, args, sort, data, None
            _TERMS[key] = known
        return known

    @property
    def digest(self) -> bytes:
        """16 bytes that depend on what the term says, and on nothing else."""
        if self._digest is None:
            for term in subterms((self,)):
                if term._digest is None:
                    hasher = hashlib.blake2b(digest_size=16)
                    hasher.update(f"{term.op}\0{term.sort}\0{term.data}\0".encode("utf-8", "surrogatepass"))
                    for argument in term.args:
                        hasher.update(argument._digest or b"")
                    term._digest = hasher.digest()
        assert self._digest is not None
        return self._digest

    def __reduce__(self) -> tuple[object, ...]:
        return _from_table, (table((self,)),)

    def __copy__(self) -> Term:
        return self

    def __deepcopy__(self, _memo: object) -> Term:
        return self

    def __repr__(self) -> str:
        return write(self)


_TERMS: weakref.WeakValueDictionary[tuple[str, tuple[Term, ...], Sort, Data], Term] = weakref.WeakValueDictionary()
_REFERENCES: dict[tuple[str, tuple[Term, ...], Sort, Data], weakref.ref[Term]] = vars(_TERMS)["data"]

Row = tuple[str, tuple[int, ...], Sort, Data]


def subterms(terms: Iterable[Term]) -> Iterator[Term]:
    """Every term under the given ones, themselves included, once each, arguments before the terms that use them."""
    done: set[Term] = set()
    for root in terms:
        waiting = [root]
        while waiting:
            term = waiting[-1]
            if term in done:
                waiting.pop()
                continue
            missing = [a for a in term.args if a not in done]
            if missing:
                waiting.extend(reversed(missing))
            else:
                waiting.pop()
                done.add(term)
                yield term


def table(terms: Iterable[Term]) -> tuple[Row, ...]:
    """The terms as rows that refer to earlier rows; the last row is the last term."""
    rows: list[Row] = []
    number: dict[Term, int] = {}
    for term in subterms(terms):
        number[term] = len(rows)
        rows.append((term.op, tuple(number[a] for a in term.args), term.sort, term.data))
    return tuple(rows)


def _from_table(rows: tuple[Row, ...]) -> Term:
    terms: list[Term] = []
    for op, args, sort, data in rows:
        terms.append(Term(op, tuple(terms[i] for i in args), sort, data))
    return terms[-1]


def symbols(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The symbols in the terms, in the order in which they are first met."""
    seen: set[Term] = set()
    found: list[Term] = []
    for root in terms:
        waiting = [root]
        while waiting:
            term = waiting.pop()
            if term not in seen:
                seen.add(term)
                if term.op == "symbol":
                    found.append(term)
                else:
                    waiting.extend(reversed(term.args))
    return tuple(found)


_SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*\Z")
_RESERVED = frozenset(("let", "forall", "exists", "match", "par", "as", "true", "false", "not", "and", "or", "ite", "_", "!"))
_LEAVES = frozenset(("symbol", "value"))


def write(term: Term) -> str:
    """The term as SMT-LIB text. What is used more than once is written once, bound by `let`: the text is linear in the size of
    the term."""
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
