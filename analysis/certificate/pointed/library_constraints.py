"""The constraints of a call of a library function, by its row (`analysis.c.functions`).

Where a function writes, it may copy what is in the objects that it reads. Only functions that keep something, or that store
pointers, also write pointers to what they are passed.
"""

from __future__ import annotations

from analysis.c.calls import literal
from analysis.c.functions import Argument, Function
from analysis.c.library_variables import ENVIRON, SET_BY
from analysis.c.row_words import INCOMPLETE
from analysis.certificate.pointed.constraints import CallSite
from analysis.certificate.pointed.nodes import (
    ANYTHING,
    CHANGING,
    ENVIRONMENT,
    FOUND_THERE,
    FURTHER,
    HANDLERS,
    HEAP,
    LIBRARY,
    TEXT,
    Node,
)
from analysis.certificate.pointed.solution import Solution
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer

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


class LibraryCall:
    """A call of a function that the program does not define. `ended`: the nodes that lead to what the call may end. `code`: those
    that lead to functions that it may call, and `given`: what these may be passed."""

    def __init__(self, solution: Solution, caller: str, site: CallSite, function: Function) -> None:
        self._solution, self._site, self._function = solution, site, function
        self._key = caller, f"{site.edge} {function.name}"
        self.ended: list[Node] = []
        self.code: list[Node] = []
        given = list(zip(site.call.arguments, site.passed, strict=True))
        self._passed = [(function.argument(at), node, expr) for at, (expr, node) in enumerate(given) if node is not None]
        self._inside, self._data = self._node("inside"), self._node("data")
        self.given = self._node("given")
        self._add()

    def _node(self, kind: str) -> Node:
        return Node(kind, *self._key)

    def _add(self) -> None:
        solution = self._solution
        for argument, node, _ in self._passed:
            solution.copy(self.given, node)
            if not argument.uses.isdisjoint(_PASSED_ON):
                solution.load(self.given, node, may_be_pointer=True)
            if not argument.uses.isdisjoint(_READ):
                into = self._inside if "beneath" in argument.uses else self._data
                solution.load(into, node, may_be_pointer=not argument.uses.isdisjoint(_READ_WHOLE))
            if "va" in argument.uses:
                solution.load(self._data, FURTHER, may_be_pointer=False)
            if "controls" in self._function.besides:
                solution.load(self._data, node, may_be_pointer=True)
            self._keep(argument, node)
            self._end(argument, node)
        solution.copy(self._inside, self._data)
        stored = self._stored()
        self._change_variables()
        for argument, node, expr in self._passed:
            if "controls" in self._function.besides:
                solution.store(node, self._data)
            if not argument.uses.isdisjoint(_WRITTEN):
                solution.store(node, self._data if _leads_to_number(expr) else stored)
            if "beneath" in argument.uses:
                beneath = self._node("beneath")
                solution.load(beneath, node, may_be_pointer=True)
                solution.store(beneath, stored if self._stores_pointers() else self._data)
        self._return(stored)

    def _keep(self, argument: Argument, node: Node) -> None:
        if "kept" in argument.uses:
            self._solution.copy(LIBRARY, node)
        if not argument.uses.isdisjoint(("code", "later", "starts")):
            self.code.append(node)
        if "handler" in self._function.besides and not argument.uses.isdisjoint(("starts", "starts-inside")):
            self._solution.copy(HANDLERS, node)
            self._solution.load(HANDLERS, node, may_be_pointer=True)
        if "starts-inside" in argument.uses:
            inside = self._node("starts")
            self._solution.load(inside, node, may_be_pointer=True)
            self.code.append(inside)

    def _end(self, argument: Argument, node: Node) -> None:
        if "freed" in argument.uses or ("closed" in argument.uses and "n" not in argument.uses):
            self.ended.append(node)
        if "frees" in self._function.besides and "handle" not in argument.uses:
            inside = self._node("freed")
            self._solution.load(inside, node, may_be_pointer=True)
            if "freed" in argument.uses:  # a list
                self._solution.load(inside, inside, may_be_pointer=True)
            self.ended.append(inside)

    def _change_variables(self) -> None:
        """What the function does to variables of the library."""
        solution = self._solution
        for name in sorted(SET_BY.get(self._function.name, ())):
            solution.copy(Node("variable", "", name), self.given)
        if "environment" in self._function.besides:
            environ, put = Node("variable", "", ENVIRON), self._node("put")
            solution.address(environ, CHANGING)
            solution.address(put, CHANGING)
            for argument, node, _ in self._passed:
                if "kept" in argument.uses:
                    solution.copy(put, node)
            solution.copy(ENVIRONMENT, put)  # a word may be replaced where it is
            solution.store(environ, put)
            solution.copy(CHANGING, LIBRARY)

    def _stored(self) -> Node:
        """A node that holds what the function may write."""
        function, solution = self._function, self._solution
        stored = self._node("stored")
        solution.copy(stored, self._inside)
        if self._stores_pointers():
            solution.copy(stored, self.given)
            solution.copy(stored, LIBRARY)
            solution.address(stored, LIBRARY)
        if "handler" in function.besides:  # the handler before
            solution.copy(stored, HANDLERS)
        if function.positions("scan") and not _reads_plain(self._site.call, function):
            solution.address(stored, ANYTHING)
        elif "allocates" in function.besides and not function.positions("scan"):
            made = self._node(HEAP)
            solution.address(stored, made)
            solution.copy(made, self._data)
            solution.load(made, self._node("freed"), may_be_pointer=True)
            if not function.positions("format", "size") and "frees" not in function.besides:
                solution.address(made, made)  # it is no text, and not asked for so many bytes: it may be a list
        return stored

    def _stores_pointers(self) -> bool:
        """Whether the function stores pointers to what it is, or was, passed."""
        return "elsewhere" in self._function.besides or bool(self._function.positions(*_STORES_POINTERS))

    def _return(self, stored: Node) -> None:
        function, solution, result, call_result = self._function, self._solution, self._site.result, self._site.call.result
        made = _MADE_AS.get(function.result)
        if made is not None:
            solution.address(result, self._node(made))
            solution.copy(self._node(made), self._inside)
            for argument, node, _ in self._passed:  # `realloc` moves what was in the old block
                if "freed" in argument.uses:
                    solution.load(self._node(made), node, may_be_pointer=True)
        elif function.result in ("argument", "into"):
            of = self._site.passed[function.of] if function.of < len(self._site.passed) else None
            if of is not None:
                solution.copy(result, of)
            if "elsewhere" in function.besides:
                solution.copy(result, LIBRARY)
        elif function.result == "outside":
            solution.address(result, LIBRARY)
        elif function.result == "static":
            type_ = call_result.type if call_result is not None else None
            is_text = isinstance(type_, Pointer) and isinstance(type_.target, Integer)
            solution.address(result, TEXT if is_text else CHANGING)
            solution.copy(result, LIBRARY)
            solution.copy(result, FOUND_THERE)
        elif "handler" in function.besides:
            solution.copy(result, HANDLERS)
        elif "or-number" in function.besides:  # a text: what it is passed, or one that does not end
            solution.address(result, LIBRARY)
            solution.copy(result, self.given)
        elif function.result == "any":
            solution.address(result, ANYTHING)
        elif function.result == "number":  # `__builtin_bswap64` twice gives the address again
            for _, node, expr in self._passed:
                if not isinstance(expr.type, Pointer):
                    solution.copy(result, node)
        if "allocates" in function.besides:
            solution.copy(result, stored)


def _leads_to_number(argument: ir.Expr) -> bool:
    """Whether a function takes an argument as a pointer to a number, as `getline` does the size: it stores no pointer there."""
    target = argument.type.target if isinstance(argument.type, Pointer) else None
    return isinstance(target, Integer) and target.bits > _CHAR_BITS


def _reads_plain(call: ir.Call, function: Function) -> bool:
    """Whether a call of `scanf` or one of its like reads no pointer and allocates nothing, by its format."""
    at = function.positions("scan")[0]
    text = literal(call.arguments[at]) if at < len(call.arguments) else None
    return text is not None and not any(part in text.replace("\\n", "") for part in ("m", "p", "\\", "??"))
