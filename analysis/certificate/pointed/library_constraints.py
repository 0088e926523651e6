"""The constraints of a call of a library function, by its row (`analysis.c.functions`).

Where a function writes, it may copy what is in the objects that it reads. Only functions that keep something, or that store
pointers, also write pointers to what they are passed.
"""

from __future__ import annotations

from typing import NamedTuple

from analysis.c.calls import literal
from analysis.c.functions import Argument, Function
from analysis.c.library_variables import ENVIRON, SET_BY
from analysis.c.row_words import INCOMPLETE
from analysis.certificate.pointed.constraints import CallSite, Constraints
from analysis.certificate.pointed.nodes import (
    ANYTHING,
    CHANGING,
    ENVIRONMENT,
    FOUND_THERE,
    FURTHER,
    HANDLERS,
    HEAP,
    LIBRARY,
    OPENED,
    TEXT,
    Node,
)
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.kept_with import kept_with

_IN_TIME = frozenset(("setjmp", "twice", "jumps", "switches", "registers", "signals"))
"""What functions do that rows do not say, and that only changes when things happen: handlers of signals run anyway."""
_FOLLOWED = _IN_TIME | {"handler", "environment", "sets"}
_READ = frozenset(("in", "copied", "text", "inout", "scan", "format", "..."))
_READ_WHOLE = frozenset(("in", "copied", "inout"))  # the others are read as texts
_WRITTEN = frozenset(("out", "inout", "link", "lock", "out..."))  # of files, see `assumptions.COPIED_POINTERS`
_STORES_POINTERS = ("kept", "link")
_PASSED_ON = frozenset(("inout", "link", "beneath", "kept", "starts-inside"))
_CHAR_BITS = 8
_MADE_AS = {"block": HEAP, "stream": "stream", "directory": "directory", "stack": "stack"}


def is_followed(function: Function | None) -> bool:
    """Whether all that a function does with pointers is known."""
    if function is None:
        return False
    more = (function.besides & INCOMPLETE) - _FOLLOWED
    return not more or (more == {"by-number"} and "controls" in function.besides)


class LibraryCall(NamedTuple):
    """A call of a function that the program does not define. `ended`: the nodes that lead to what the call may end. `code`: those
    that lead to functions that it may call, and `given`: what these may be passed."""

    constraints: Constraints
    ended: tuple[Node, ...]
    code: tuple[Node, ...]
    given: Node


def library_call(cfa: Cfa, site: CallSite, function: Function) -> LibraryCall:
    """What a call in a function may do. It is computed once for each revision of the function."""
    known, key = _known_calls(cfa), (site.edge, function.name)
    found = known.get(key)
    if found is None or found[0] is not function:
        found = known[key] = function, _Collector(cfa.name, site, function).collected()
    return found[1]


@kept_with
def _known_calls(_cfa: Cfa) -> dict[tuple[int, str], tuple[Function, LibraryCall]]:
    return {}


class _Collector:
    """Collects the constraints of one call."""

    def __init__(self, caller: str, site: CallSite, function: Function) -> None:
        self._site, self._function = site, function
        self._key = caller, f"{site.edge} {function.name}"
        self._addresses, self._copies, self._stores = (list[tuple[Node, Node]]() for _ in range(3))
        self._loads: list[tuple[Node, Node, bool]] = []
        self._ended: list[Node] = []
        self._code: list[Node] = []
        given = list(zip(site.call.arguments, site.passed, strict=True))
        self._passed = [(function.argument(at), node, expr) for at, (expr, node) in enumerate(given) if node is not None]
        self._inside, self._data = self._node("inside"), self._node("data")
        self._given = self._node("given")

    def collected(self) -> LibraryCall:
        """What there is."""
        self._add()
        found = Constraints(tuple(self._addresses), tuple(self._copies), tuple(self._loads), tuple(self._stores), ())
        return LibraryCall(found, tuple(self._ended), tuple(self._code), self._given)

    def _address(self, node: Node, of: Node) -> None:
        self._addresses.append((node, of))

    def _copy(self, target: Node, source: Node) -> None:
        self._copies.append((target, source))

    def _load(self, target: Node, pointer: Node, may_be_pointer: bool) -> None:
        self._loads.append((target, pointer, may_be_pointer))

    def _store(self, pointer: Node, source: Node) -> None:
        self._stores.append((pointer, source))

    def _node(self, kind: str) -> Node:
        return Node(kind, *self._key)

    def _add(self) -> None:
        for argument, node, _ in self._passed:
            self._copy(self._given, node)
            if not argument.uses.isdisjoint(_PASSED_ON):
                self._load(self._given, node, may_be_pointer=True)
            if not argument.uses.isdisjoint(_READ):
                into = self._inside if "beneath" in argument.uses else self._data
                self._load(into, node, may_be_pointer=not argument.uses.isdisjoint(_READ_WHOLE))
            if "va" in argument.uses:
                self._load(self._data, FURTHER, may_be_pointer=False)
            if "controls" in self._function.besides:
                self._load(self._data, node, may_be_pointer=True)
            self._keep(argument, node)
            self._end(argument, node)
        self._copy(self._inside, self._data)
        stored = self._stored()
        self._change_variables()
        for argument, node, expr in self._passed:
            if "controls" in self._function.besides:
                self._store(node, self._data)
            if not argument.uses.isdisjoint(_WRITTEN):
                self._store(node, self._data if _leads_to_number(expr) else stored)
            if "beneath" in argument.uses:
                beneath = self._node("beneath")
                self._load(beneath, node, may_be_pointer=True)
                self._store(beneath, stored if self._stores_pointers() else self._data)
        self._return(stored)

    def _keep(self, argument: Argument, node: Node) -> None:
        if "kept" in argument.uses:
            self._copy(LIBRARY, node)
        if not argument.uses.isdisjoint(("code", "later", "starts")):
            self._code.append(node)
        if "handler" in self._function.besides and not argument.uses.isdisjoint(("starts", "starts-inside")):
            self._copy(HANDLERS, node)
            self._load(HANDLERS, node, may_be_pointer=True)
        if "starts-inside" in argument.uses:
            inside = self._node("starts")
            self._load(inside, node, may_be_pointer=True)
            self._code.append(inside)

    def _end(self, argument: Argument, node: Node) -> None:
        if "freed" in argument.uses or ("closed" in argument.uses and "n" not in argument.uses):
            self._ended.append(node)
        if "frees" in self._function.besides and "handle" not in argument.uses:
            inside = self._node("freed")
            self._load(inside, node, may_be_pointer=True)
            if "freed" in argument.uses:  # a list
                self._load(inside, inside, may_be_pointer=True)
            self._ended.append(inside)

    def _change_variables(self) -> None:
        """What the function does to variables of the library."""
        for name in sorted(SET_BY.get(self._function.name, ())):
            self._copy(Node("variable", "", name), self._given)
        if "environment" in self._function.besides:
            environ, put = Node("variable", "", ENVIRON), self._node("put")
            self._address(environ, CHANGING)
            self._address(put, CHANGING)
            for argument, node, _ in self._passed:
                if "kept" in argument.uses:
                    self._copy(put, node)
            self._copy(ENVIRONMENT, put)  # a word may be replaced where it is
            self._store(environ, put)
            self._copy(CHANGING, LIBRARY)

    def _stored(self) -> Node:
        """A node that holds what the function may write."""
        function = self._function
        stored = self._node("stored")
        self._copy(stored, self._inside)
        if self._stores_pointers():
            self._copy(stored, self._given)
            self._copy(stored, LIBRARY)
            self._address(stored, LIBRARY)
        if "handler" in function.besides:  # the handler before
            self._copy(stored, HANDLERS)
        if function.positions("scan") and not _reads_plain(self._site.call, function):
            self._address(stored, ANYTHING)
        elif "allocates" in function.besides and not function.positions("scan"):
            made = self._node(HEAP)
            self._address(stored, made)
            self._copy(made, self._data)
            self._load(made, self._node("freed"), may_be_pointer=True)
            if not function.positions("format", "size") and "frees" not in function.besides:
                self._address(made, made)  # it is no text, and not asked for so many bytes: it may be a list
        return stored

    def _stores_pointers(self) -> bool:
        """Whether the function stores pointers to what it is, or was, passed."""
        return "elsewhere" in self._function.besides or bool(self._function.positions(*_STORES_POINTERS))

    def _return(self, stored: Node) -> None:
        function, result, call_result = self._function, self._site.result, self._site.call.result
        made = _MADE_AS.get(function.result)
        if made is not None:
            self._make(self._node(made))
        elif function.result in ("argument", "into"):
            of = self._site.passed[function.of] if function.of < len(self._site.passed) else None
            if of is not None:
                self._copy(result, of)
            if "elsewhere" in function.besides:
                self._copy(result, LIBRARY)
        elif function.result == "outside":
            self._address(result, LIBRARY)
        elif function.result == "static":
            type_ = call_result.type if call_result is not None else None
            is_text = isinstance(type_, Pointer) and isinstance(type_.target, Integer)
            self._address(result, TEXT if is_text else CHANGING)
            self._copy(result, LIBRARY)
            self._copy(result, FOUND_THERE)
        elif "handler" in function.besides:
            self._copy(result, HANDLERS)
        elif "or-number" in function.besides:  # a text: what it is passed, or one that does not end
            self._address(result, LIBRARY)
            self._copy(result, self._given)
        elif function.result == "any":
            self._address(result, ANYTHING)
        elif function.result == "number":  # `__builtin_bswap64` twice gives the address again
            for _, node, expr in self._passed:
                if not isinstance(expr.type, Pointer):
                    self._copy(result, node)
        if "allocates" in function.besides:
            self._copy(result, stored)

    def _make(self, made: Node) -> None:
        """The call returns a new object."""
        self._address(self._site.result, made)
        self._copy(made, self._inside)
        if made.kind in OPENED:
            self._address(made, made)
        for argument, node, _ in self._passed:  # `realloc` moves what was in the old block
            if "freed" in argument.uses:
                self._load(made, node, may_be_pointer=True)


def _leads_to_number(argument: ir.Expr) -> bool:
    """Whether a function takes an argument as a pointer to a number, as `getline` does the size: it stores no pointer there."""
    target = argument.type.target if isinstance(argument.type, Pointer) else None
    return isinstance(target, Integer) and target.bits > _CHAR_BITS


def _reads_plain(call: ir.Call, function: Function) -> bool:
    """Whether a call of `scanf` or one of its like reads no pointer and allocates nothing, by its format."""
    at = function.positions("scan")[0]
    text = literal(call.arguments[at]) if at < len(call.arguments) else None
    return text is not None and not any(part in text.replace("\\n", "") for part in ("m", "p", "\\", "??"))
