"""SMT-LIB 2.6 text as terms: what `smtlib` writes, and what z3 prints as the solution of Horn clauses.

Terms are built as they are read, so that they are simplified. Quantifiers are not read: ValueError says so.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

import msgspec

from analysis.smt.logic import linear, term_building
from analysis.smt.logic.smtlib_limits import bit_vector_of, limited
from analysis.smt.logic.substitution import Substitution, rebuilt
from analysis.smt.logic.terms import BOOL, INT, REAL, Sort, Term, array

_TOKEN = re.compile(r"""\s*(?:;[^\n]*\n\s*)*(\(|\)|\|[^|]*\||"(?:[^"]|"")*"|[^\s()|";]+)""")
_BOOLEAN = frozenset(("and", "or", "not", "=", "<=", ">=", "<", ">", "bvult", "bvule", "bvslt", "bvsle", "bvsmulo", "=>"))
_MIRRORED = {"bvugt": "bvult", "bvuge": "bvule", "bvsgt": "bvslt", "bvsge": "bvsle"}
_TOTAL = {f"{op}_i": op for op in ("bvudiv", "bvurem", "bvsdiv", "bvsrem")}  # z3's own names for what SMT-LIB means, too
_CHAINED = frozenset(("bvand", "bvor", "bvxor", "bvmul"))  # of two or more operands, from the left
_BITS = frozenset(
    ("bvnot", "bvneg", "bvadd", "bvsub", "bvshl", "bvlshr", "bvashr", "bvult", "bvule", "bvslt", "bvsle", "bvsmulo")
)
_KNOWN_BITS = _BITS | _CHAINED | frozenset(_TOTAL.values())
_LOGIC = frozenset(("and", "or", "not", "=>", "xor"))
_EQUALITY = frozenset(("=", "distinct"))
_ARITHMETIC = frozenset(("<=", "<", ">=", ">", "+", "*", "-", "/"))
_DIVISION = frozenset(("div", "mod"))
_OF_ONE_SORT = _LOGIC | _EQUALITY | _ARITHMETIC | _DIVISION  # and all of bit-vectors but concat
_OF_SEVERAL_SORTS = frozenset(("ite", "select", "store", "concat", "to_real"))
_MOST_DEPTH = 4_000

Node = str | list["Node"]


class Definition(msgspec.Struct, frozen=True):
    """A function: its parameters, as symbols, and its value."""

    parameters: tuple[Term, ...]
    body: Term


def nodes(text: str) -> Iterator[Node]:
    """The expressions in a text. ValueError where parentheses do not match."""
    stack: list[list[Node]] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise ValueError("this is no SMT-LIB text")
        position = found.end()
        token = found.group(1)
        if token == "(":
            stack.append([])
            if len(stack) > _MOST_DEPTH:
                raise ValueError("the expression is nested too deeply")
        elif token == ")":
            if not stack:
                raise ValueError("there is a ) too many")
            done = stack.pop()
            if not stack:
                yield done
            else:
                stack[-1].append(done)
        elif stack:
            stack[-1].append(token)
        else:
            yield token
    if stack:
        raise ValueError("there is a ) too few")


def read(text: str, symbols: Mapping[str, Term]) -> Term:
    """The one term that a text holds; `symbols` are those that it may use, by name. ValueError if it is none."""
    found = list(nodes(text))
    if len(found) != 1:
        raise ValueError("one term is wanted")
    return _term(found[0], symbols)


def definitions(text: str) -> dict[str, Definition]:
    """The functions that a model defines, by name."""
    found: dict[str, Definition] = {}
    for node in nodes(text):
        for line in node if isinstance(node, list) and node and not isinstance(node[0], str) else [node]:
            if not isinstance(line, list) or len(line) != 5 or line[0] != "define-fun":
                continue
            _, name, parameters, _, body = line
            assert isinstance(parameters, list)
            bound = [term_building.symbol(unquoted(str(p[0])), sort(p[1])) for p in parameters]
            scope = {str(symbol.data): symbol for symbol in bound}
            found[unquoted(str(name))] = Definition(tuple(bound), _term(body, scope, found))
    return found


def sort(node: Node) -> Sort:
    """A sort. ValueError for one that terms do not have."""
    match node:
        case "Bool":
            return BOOL
        case "Int":
            return INT
        case "Real":
            return REAL
        case ["_", "BitVec", str(width)]:
            return bit_vector_of(int(width))
        case ["Array", index, element]:
            return array(sort(index), sort(element))
    raise ValueError(f"no such sort: {node}")


def unquoted(name: str) -> str:
    """A name without quotes."""
    return name[1:-1].replace("%7c", "|").replace("%5c", "\\") if name.startswith("|") else name


def _term(node: Node, scope: Mapping[str, Term], known: Mapping[str, Definition] | None = None) -> Term:
    """Recursion over the nesting of `let` and operators; the depth is bounded by `nodes`."""
    if isinstance(node, str):
        return _leaf(node, scope)
    head = node[0] if node else ""
    if head == "let":
        inner = dict(scope)
        for binding in node[1]:
            inner[unquoted(str(binding[0]))] = _term(binding[1], scope, known)
        return _term(node[2], inner, known)
    if head == "!":
        return _term(node[1], scope, known)
    if head in ("forall", "exists"):
        raise ValueError("quantifiers are not read")
    if isinstance(head, list):
        return _indexed(head, [_term(part, scope, known) for part in node[1:]])
    if head == "_":
        return _literal(node)
    args = tuple([_term(part, scope, known) for part in node[1:]])
    if known and unquoted(head) in known:
        return _applied(known[unquoted(head)], args)
    return _operation(head, args)


def _applied(definition: Definition, args: tuple[Term, ...]) -> Term:
    return Substitution(dict(zip(definition.parameters, args, strict=True)))(definition.body)


def _leaf(token: str, scope: Mapping[str, Term]) -> Term:
    name = unquoted(token)
    if name in scope:
        return scope[name]
    if token in ("true", "false"):
        return term_building.boolean(token == "true")
    if re.fullmatch(r"\d+", token):
        return term_building.integer(int(token))
    if re.fullmatch(r"\d+\.\d+", token):
        return term_building.real(Fraction(token))
    if token.startswith("#x"):
        return term_building.number(int(token[2:], 16), bit_vector_of(4 * len(token[2:])))
    if token.startswith("#b"):
        return term_building.number(int(token[2:], 2), bit_vector_of(len(token[2:])))
    raise ValueError(f"no such symbol: {token}")


def _literal(node: list[Node]) -> Term:
    if len(node) == 3 and isinstance(node[1], str) and node[1].startswith("bv") and isinstance(node[2], str):
        return term_building.number(int(node[1][2:]), bit_vector_of(int(node[2])))
    raise ValueError(f"no such literal: {node}")


def _indexed(head: list[Node], args: list[Term]) -> Term:
    match head:
        case ["as", "const", of]:
            made = sort(of)
            if len(args) != 1 or made.element != args[0].sort:
                raise ValueError("an array is filled with something of another sort")
            return term_building.filled(made, args[0])
        case ["_", "extract", str(high), str(low)]:
            if len(args) != 1 or not 0 <= int(low) <= int(high) < args[0].sort.width:
                raise ValueError("bits are cut out of something that does not have them")
            width = bit_vector_of(int(high) - int(low) + 1)
            return rebuilt(Term("extract", (), width, (int(high), int(low))), (args[0],))
        case ["_", ("zero_extend" | "sign_extend") as op, str(more)]:
            if len(args) != 1 or args[0].sort.kind != "BitVec" or int(more) < 0:
                raise ValueError("something that has no bits is widened")
            width = bit_vector_of(args[0].sort.width + int(more))
            return rebuilt(Term(op, (), width, (int(more),)), (args[0],))
    raise ValueError(f"no such operator: {head}")


def _operation(head: str, args: tuple[Term, ...]) -> Term:
    if not args:
        raise ValueError(f"an operator without operands: {head}")
    head = _TOTAL.get(head, head)
    if not _fits(head, args):
        raise ValueError(f"operands of {head} have the wrong sorts: {', '.join(str(a.sort) for a in args)}")
    if head == "-":
        return limited(_difference(args))
    if head == "/":
        one, other = map(_fraction, args)
        if not other:
            raise ValueError("a number is divided by zero")
        return limited(term_building.real(one / other))
    if head == "=>":
        return term_building.or_(*(term_building.not_(a) for a in args[:-1]), args[-1])
    if head in ("distinct", "xor") and len(args) == 2:
        return term_building.distinct(*args)
    if head in _MIRRORED:
        return _operation(_MIRRORED[head], args[::-1])
    if head in _CHAINED and len(args) > 2:
        return _operation(head, (_operation(head, args[:-1]), args[-1]))
    if head == "*" and len(args) == 2 and args[1].op == "value":
        args = args[::-1]
    result = _result_sort(head, args)
    if head in ("=", "<=", ">=", "<", ">") and len(args) > 2:
        return term_building.and_(*(_operation(head, pair) for pair in itertools.pairwise(args)))
    return limited(rebuilt(Term(head, (), result), args))


def _fits(head: str, args: tuple[Term, ...]) -> bool:
    """Whether operands have the sorts that an operator takes (SMT-LIB 2.6, theories Core, Reals_Ints, FixedSizeBitVectors,
    ArraysEx). What simplifies terms, and the solver, rely on that."""
    sorts = [a.sort for a in args]
    kind, count = sorts[0].kind, len(sorts)
    if head in _OF_SEVERAL_SORTS:
        return _fits_several(head, sorts)
    if head not in _OF_ONE_SORT and not head.startswith("bv"):
        return True  # no operator at all, which is said elsewhere
    if any(one != sorts[0] for one in sorts):
        return False
    if head in _LOGIC:
        return kind == "Bool" and (head != "not" or count == 1)
    if head in _EQUALITY:
        return count > 1
    if head in _ARITHMETIC:
        return kind in ("Int", "Real")
    if head in _DIVISION:
        return kind == "Int" and count == 2
    return kind == "BitVec" and (count == 1) == (head in ("bvnot", "bvneg")) and (count <= 2 or head in ("bvadd", *_CHAINED))


def _fits_several(head: str, sorts: list[Sort]) -> bool:
    """`_fits` of an operator whose operands need not be of one sort."""
    first = sorts[0]
    match head:
        case "to_real":
            return first.kind == "Int" and len(sorts) == 1
        case "ite":
            return len(sorts) == 3 and first.kind == "Bool" and sorts[1] == sorts[2]
        case "select":
            return len(sorts) == 2 and first.kind == "Array" and sorts[1] == first.index
        case "store":
            return len(sorts) == 3 and first.kind == "Array" and (sorts[1], sorts[2]) == (first.index, first.element)
    return all(one.kind == "BitVec" for one in sorts)  # concat


def _fraction(term: Term) -> Fraction:
    if term.op == "value":
        return Fraction(*term.data) if isinstance(term.data, tuple) else Fraction(int(term.data or 0))
    raise ValueError("a quotient of numbers is wanted")


def _difference(args: tuple[Term, ...]) -> Term:
    if args[0].sort.kind == "Real":
        if len(args) == 1 and args[0].op == "value":
            return term_building.real(-_fraction(args[0]))
        raise ValueError("differences of real numbers are not read")
    total = linear.negate(args[0]) if len(args) == 1 else args[0]
    for argument in args[1:]:
        total = linear.subtract(total, argument)
    return total


def _result_sort(head: str, args: tuple[Term, ...]) -> Sort:
    if head in _BOOLEAN:
        return BOOL
    if head == "ite":
        return args[1].sort
    if head == "select" and args[0].sort.element is not None:
        return args[0].sort.element
    if head == "concat":
        return bit_vector_of(sum(a.sort.width for a in args))
    if head in ("+", "*", "div", "mod", "store") or head in _KNOWN_BITS:
        return args[0].sort
    if head == "to_real":
        return REAL
    raise ValueError(f"no such operator: {head}")
