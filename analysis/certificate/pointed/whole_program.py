"""What runs from `main` may make pointers lead to, and what of it they end: the answers for proofs about blocks and streams."""

from __future__ import annotations

from analysis.c.control import NAMED_CODE
from analysis.c.library_variables import CODE_VARIABLES, ENVIRON, LIBRARY_VARIABLES, STREAMS
from analysis.certificate.hidden_calls import may_hide
from analysis.certificate.pointed.constraints import NOWHERE, CallSite, Constraints, Values, constraints_of, places, values
from analysis.certificate.pointed.library_constraints import LibraryCall, is_followed, library_call
from analysis.certificate.pointed.nodes import (
    ANYTHING,
    ARGUMENTS,
    CHANGING,
    ENVIRONMENT,
    FIXED_PLACE,
    FOUND_THERE,
    FURTHER,
    LIBRARY,
    MADE,
    TEXT,
    UNSEEN,
    Node,
    of_code,
    of_result,
    of_variable,
)
from analysis.certificate.pointed.solution import WHOLLY, Solution
from analysis.cfa.graph import Global, Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.model import ir
from analysis.model.assumptions import COPIED_POINTERS, ENOUGH_PASSED
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name

_MAY_BE_CODE = frozenset((ANYTHING, UNSEEN, FIXED_PLACE))
"""The library's own objects are none: it has variables that lead to functions of its own, and these begin with `ANYTHING`."""


_MOST_KEPT = 3
_last: list[tuple[tuple[object, ...], Pointed]] = []
"""The last answers, the newest first, with what they follow from: most edits do not change where pointers go, or are taken
back."""


@kept_with
def pointed(program: Program) -> Pointed:
    """What pointers lead to in runs from `main`."""
    basis = _basis(program)
    known = next((one for one in _last if one[0] == basis), None) or (basis, Pointed(program))
    _last[:] = [known, *(one for one in _last if one is not known)][:_MOST_KEPT]
    return known[1]


def _basis(program: Program) -> tuple[object, ...]:
    """All that the answers follow from."""
    functions = {
        name: (cfa.type, cfa.parameters, any(map(may_hide, cfa.unsupported)), constraints_of(cfa))
        for name, cfa in program.functions.items()
    }
    return functions, program.globals, program.externals, program.address_taken


class Pointed:
    """The answers about one program. `broken`: why nothing is known; empty if there are answers. `running`: the functions that
    may run. `assumed`: what the answers rest on."""

    def __init__(self, program: Program) -> None:
        self._solution = Solution()
        self._ended = frozenset[Node]()
        self._known: dict[tuple[str, ir.Expr, frozenset[str] | None], bool] = {}
        found = _Runs(program, self._solution)
        self.running = frozenset(found.running)
        self.assumed = (COPIED_POINTERS,) if found.takes_enough else (COPIED_POINTERS, ENOUGH_PASSED)
        self.broken = found.broken or self._solution.broken
        if not self.broken:
            ended = frozenset[Node]().union(*(self._solution.held(node) for node in found.ended))
            self.broken = "something is ended of which nothing is known" if ANYTHING in ended else ""
            self._ended = ended | {ANYTHING, CHANGING, TEXT}

    def never_ends(self, function: str, pointer: ir.Expr) -> bool:
        """Whether the program never ends what a pointer in a function leads to, whenever it is used."""
        return self._once(function, pointer, None)

    def holds_none(self, function: str, lvalue: ir.Expr, kinds: frozenset[str]) -> bool:
        """Whether no object of these kinds can be lost with what an lvalue holds at any time: neither if that leads to it, nor if
        it is reached through blocks that are lost with it."""
        return self._once(function, lvalue, kinds)

    def _once(self, function: str, expr: ir.Expr, kinds: frozenset[str] | None) -> bool:
        """The answer to a question that is asked for many functions and after many edits, computed once."""
        key = function, expr, kinds
        if key not in self._known:
            is_known = self._is_known(function)
            self._known[key] = is_known and (
                self._never_ends(function, expr) if kinds is None else self._holds_none(function, expr, kinds)
            )
        return self._known[key]

    def _never_ends(self, function: str, pointer: ir.Expr) -> bool:
        return all(one not in self._ended and one.kind != "stack" for one in self._evaluated(function, pointer))

    def _holds_none(self, function: str, lvalue: ir.Expr, kinds: frozenset[str]) -> bool:
        found = self._objects(places(function, lvalue, self._loaded))
        if ANYTHING in found:
            return False
        held = frozenset[Node]().union(*(self._solution.held(one) for one in found))
        seen, waiting = set(held), list(held)
        while waiting:
            one = waiting.pop()
            if one == ANYTHING or one.kind in kinds:
                return False
            if one.kind in MADE:
                new = self._solution.held(one) - seen
                seen |= new
                waiting += new
        return True

    def called(self, function: str, pointer: ir.Expr) -> tuple[str, ...] | None:
        """The functions that a pointer in a function may lead to where it is called; None if that is not known."""
        if not self._is_known(function):
            return None
        return tuple(sorted(one.name for one in self._evaluated(function, pointer) if one.kind == "code"))

    def _is_known(self, function: str) -> bool:
        return not self.broken and function in self.running

    def _evaluated(self, function: str, expr: ir.Expr) -> frozenset[Node]:
        return self._objects(values(function, expr, self._loaded))

    def _objects(self, found: Values) -> frozenset[Node]:
        return found.addresses.union(*(self._solution.held(node) for node in found.nodes))

    def _loaded(self, pointer: Values, may_be_pointer: bool) -> Values:
        objects = self._objects(pointer)
        own = objects & (WHOLLY | {LIBRARY} if may_be_pointer else WHOLLY)
        return Values(addresses=own, nodes=objects - {ANYTHING}) if objects else NOWHERE


class _Runs:
    """Adds the constraints of all that runs. `ended`: the nodes that lead to what is ended. `takes_enough`: no pointer may lead,
    where it is called, to a function that takes more than it is passed there. Such calls are left out (C11 6.5.2.2p6)."""

    def __init__(self, program: Program, solution: Solution) -> None:
        self._program, self._solution = program, solution
        self.running: dict[str, None] = {}
        self.ended: list[Node] = []
        self.broken = ""
        self.takes_enough = True
        if MAIN not in program.functions:
            self.broken = "there is no main() from which all runs start"
            return
        if program.contracts:
            self.broken = "contracts of the project say what functions do that are not seen"
            return
        for variable in program.globals.values():
            self._begin(variable)
        for number, parameter in enumerate(program.functions[MAIN].parameters):
            solution.address(of_variable(MAIN, parameter), ARGUMENTS if number < 2 else ENVIRONMENT)
        for node in (ARGUMENTS, ENVIRONMENT):
            solution.address(node, LIBRARY)
        solution.copy(FOUND_THERE, ENVIRONMENT)
        self._run(MAIN)
        if not self.broken:
            solution.solve()

    def _break(self, why: str) -> None:
        self.broken = self.broken or why
        self._solution.broken = self._solution.broken or why

    def _begin(self, variable: Global) -> None:
        """What a variable holds when the program starts. No initialiser leads to what has to be ended (C11 6.6p9)."""
        node = of_variable("", variable.var)
        if variable.var.name in STREAMS:
            stream = Node("stream", "", variable.var.name)
            self._solution.address(node, stream)
            self._solution.address(stream, stream)
        elif variable.var.name in LIBRARY_VARIABLES:
            self._solution.address(node, LIBRARY)
            if node.name == ENVIRON:
                self._solution.address(node, ENVIRONMENT)
            if variable.var.name in CODE_VARIABLES:
                self._solution.address(node, ANYTHING)
            self._read_by_library(node)
        given = tuple(part.value for part in variable.parts) or (variable.initial,)
        is_known = not any(isinstance(part, ir.Unknown) for one in given for part in ir.walk(one))
        if not is_known and variable.var.name not in LIBRARY_VARIABLES:
            self._begin_with_any(variable, node)
        for value in given:
            if not isinstance(value, ir.Unknown):
                for one in values("", value, _no_load).addresses:
                    self._solution.address(node, one)

    def _read_by_library(self, node: Node) -> None:
        """A variable that the program does not define: the library may return what the program stores there, as `getenv` does
        with what `environ` leads to."""
        into = FOUND_THERE if node.name == ENVIRON else LIBRARY
        self._solution.copy(into, node)
        self._solution.load(into, node, may_be_pointer=False)

    def _begin_with_any(self, variable: Global, node: Node) -> None:
        """It begins with what is not known: the address of any variable or function, if it has an initialiser somewhere."""
        if not variable.open and "::" not in variable.var.name:
            self._solution.address(node, ANYTHING)
            self._read_by_library(node)
        self._solution.address(node, UNSEEN)
        self._solution.copy(UNSEEN, node)
        for other in self._program.globals.values():
            self._solution.address(node, of_variable("", other.var))
        for name in sorted(self._program.address_taken):
            self._solution.address(node, of_code(name))

    def _run(self, name: str) -> None:
        """A function may run."""
        if name in self.running:
            return
        self.running[name] = None
        cfa = self._program.functions[name]
        if any(map(may_hide, cfa.unsupported)):
            self._break(f"not all of {display_name(name)}() is supported")
            return
        found = constraints_of(cfa)
        self._add(found)
        for site in found.calls:
            self._call(name, site)

    def _add(self, found: Constraints) -> None:
        solution = self._solution
        for node, of in found.addresses:
            solution.address(node, of)
        for target, source in found.copies:
            solution.copy(target, source)
        for target, pointer, may_be_pointer in found.loads:
            solution.load(target, pointer, may_be_pointer)
        for pointer, source in found.stores:
            solution.store(pointer, source)

    def _call(self, caller: str, site: CallSite) -> None:
        if site.name is not None:
            self._bind(caller, site, site.name)
        elif site.through is not None:
            self._solution.watch(site.through, lambda one: self._called_through(caller, site, one))

    def _called_through(self, caller: str, site: CallSite, one: Node) -> None:
        if one.kind == "code":  # whatever its type: machines call it
            cfa = self._program.functions.get(one.name)
            if cfa is None or len(cfa.parameters) <= len(site.passed):
                self._bind(caller, site, one.name)
            else:
                self.takes_enough = False
        elif one in _MAY_BE_CODE:
            self._break(f"{display_name(caller)}() calls a function through a pointer of which nothing is known")

    def _bind(self, caller: str, site: CallSite, name: str) -> None:
        cfa = self._program.functions.get(name)
        if cfa is None:
            self._call_library(caller, site, name)
            return
        for number, parameter in enumerate(cfa.parameters):
            node = of_variable(name, parameter)
            if number >= len(site.passed):
                self._solution.address(node, ANYTHING)
            elif (given := site.passed[number]) is not None:
                self._solution.copy(node, given)
        for given in site.passed[len(cfa.parameters) :]:
            if given is not None:
                self._solution.copy(FURTHER, given)
        self._solution.copy(site.result, of_result(name))
        self._run(name)

    def _call_library(self, caller: str, site: CallSite, name: str) -> None:
        function = self._program.known(name)
        if function is None or not is_followed(function) or name in NAMED_CODE:
            self._break(f"{display_name(caller)}() calls {name}(), of which not all is known")
            return
        call = library_call(self._program.functions[caller], site, function)
        self._add(call.constraints)
        self.ended += call.ended
        for node in call.code:
            self._solution.watch(node, lambda one: self._called_back(call, one))

    def _called_back(self, call: LibraryCall, one: Node) -> None:
        """The library may call a function with anything that it was passed, or that is its own."""
        cfa = self._program.functions.get(one.name) if one.kind == "code" else None
        if cfa is None:
            if one.kind == "code" or one in _MAY_BE_CODE - {FIXED_PLACE}:  # `SIG_IGN` is a number
                self._break("the library may call a function of which nothing is known")
            return
        for parameter in cfa.parameters:
            node = of_variable(cfa.name, parameter)
            self._solution.copy(node, call.given)
            self._solution.address(node, LIBRARY)
            self._solution.copy(node, LIBRARY)
        self._run(cfa.name)


def _no_load(_pointer: Values, _may_be_pointer: bool) -> Values:
    """What is read for an initialiser, which reads nothing."""
    return Values(addresses=frozenset((ANYTHING,)))
