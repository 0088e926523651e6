"""What functions and all that they call can change, which of them can return, and the call graph.

Everything here over-approximates: whatever may be changed is named. External functions change what `library`
says, or all that they could reach: memory behind pointers, and variables that other files can name or whose
address somebody has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from analysis.c.aliasing import of_characters
from analysis.c.calls import written_arguments
from analysis.c.control import NEVER_RETURN, STARTS
from analysis.c.functions import known as known_function
from analysis.cfa.addresses_taken import pointed_statics, taken_by
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.effects.state_places import ANY, Tag, base_of, may_alias, tag_of, tags_in
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.code_addresses import UNKNOWN
from analysis.cpa.obstacles.passed_code import may_call_back
from analysis.model import ir
from analysis.model.c_types import Array, Function, Pointer, Record, RecordDefinition, Type
from analysis.model.compatible import fits

_ERRNO = Tag("int32")


class Writes(msgspec.Struct, frozen=True):
    """What is changed: variables with static storage and, for one edge, variables of its function by name, memory behind pointers
    by the kind of access. `named`: also all variables that other files can name; `undefined`: those that no file of the program
    defines."""

    variables: frozenset[str] = frozenset()
    locals: frozenset[str] = frozenset()
    memory: frozenset[Tag] = frozenset()
    named: bool = False
    undefined: bool = False

    def joined(self, other: Writes) -> Writes:
        """What either changes."""
        return Writes(
            self.variables | other.variables,
            self.locals | other.locals,
            self.memory | other.memory,
            self.named or other.named,
            self.undefined or other.undefined,
        )


NO_WRITES = Writes()
_ANYWHERE = Writes(memory=frozenset({ANY}), undefined=True)
_OUTSIDE = Writes(memory=frozenset({ANY}), named=True, undefined=True)


class WholeProgram:
    """What holds of a program as a whole. If it is not `closed`, code that is not known calls into it, and has the addresses of
    all its variables with static storage."""

    def __init__(self, program: Program, closed: bool) -> None:
        self.program = program
        self._closed = closed
        self._returning: frozenset[str] | None = None
        self._callers: dict[str, list[tuple[str, int]]] | None = None
        self._own: dict[str, tuple[Writes, tuple[str, ...]]] = {}
        self._writes: dict[str, Writes] = {}
        self._obstacle: str | None = None
        self._exposed: frozenset[str] | None = None
        self._knows_all: bool | None = None
        self._unknown: Writes | None = None
        self._bytes_of_any = of_characters(program.records)

    @property
    def knows_all_code(self) -> bool:
        """Whether the program is closed, and all functions of it whose addresses are used are there."""
        if self._knows_all is None:
            used = {name for cfa in self.program.functions.values() for name in taken_by(cfa).functions}
            for variable in self.program.globals.values():
                for value in (variable.initial, *(part.value for part in variable.parts)):
                    used.update(v.name for v in ir.variables(value) if v.scope == "function")
            self._knows_all = self._closed and used <= self.program.functions.keys() | self.program.externals.keys()
        return self._knows_all

    # -- control ------------------------------------------------------------------------------------------------

    def callers(self, function: str) -> list[tuple[str, int]]:
        """The call edges that can lead into a function, with the functions that they are in."""
        if self._callers is None:
            self._callers = {}
            for name, cfa in self.program.functions.items():
                for edge in cfa.calls:
                    assert isinstance(edge.effect, ir.Call)
                    for target in self.program.targets(edge.effect):
                        self._callers.setdefault(target, []).append((name, edge.id))
        return self._callers.get(function, [])

    def returns(self, target: str) -> bool:
        """Whether a function, with or without a body, can return."""
        if target not in self.program.functions:
            external = self.program.externals.get(target)
            return target not in NEVER_RETURN and (external is None or not external.noreturn)
        if self._returning is None:
            self._returning = self._find_returning()
        return target in self._returning

    def _find_returning(self) -> frozenset[str]:
        """The least set: a function returns if its exit can be reached over calls that do."""
        self._returning = frozenset()
        waiting = dict(self.program.functions)
        found: set[str] = set()
        grown = True
        while grown:
            grown = False
            for name, cfa in list(waiting.items()):
                if self._reaches_exit(cfa):
                    found.add(name)
                    self._returning = self._returning | {name}
                    del waiting[name]
                    grown = True
        return frozenset(found)

    def _reaches_exit(self, cfa: Cfa) -> bool:
        seen, waiting = {cfa.entry}, [cfa.entry]
        while waiting:
            for edge in cfa.outgoing.get(waiting.pop(), ()):
                if edge.target not in seen and self.can_pass(edge.effect):
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return cfa.exit in seen

    def can_pass(self, effect: ir.Effect) -> bool:
        """Whether something can come after the effect: all but calls that do not return."""
        if not isinstance(effect, ir.Call):
            return True
        return self.is_open(effect) or any(self.returns(target) for target in self.program.targets(effect))

    def is_exposed(self, function: str) -> bool:
        """Whether code that is not known may call the function, which is not where the program begins."""
        if function not in self.program.address_taken:
            return False
        if not self._closed:
            return True
        if self._exposed is None:
            self._exposed = frozenset(self._find_exposed())
        return function in self._exposed

    def _find_exposed(self) -> Iterator[str]:
        """The functions that external functions are given, themselves or within what they are given."""
        types: set[Function] = set()
        for cfa in self.program.functions.values():
            for edge in cfa.calls:
                assert isinstance(edge.effect, ir.Call)
                for target in self.program.targets(edge.effect):
                    function = known_function(target)
                    calls_none = function is not None and function.calls_nothing and not function.keeps
                    if target in self.program.functions or calls_none:
                        continue
                    known = self.program.externals.get(target)
                    for argument in edge.effect.arguments:
                        bare = ir.strip_casts(argument)
                        if isinstance(bare, ir.AddressOf) and isinstance(bare.lvalue, ir.Var) and bare.lvalue.scope == "function":
                            yield bare.lvalue.name
                        elif (known is None or not known.system) and isinstance(bare.type, Pointer):
                            yield from self.program.address_taken  # it may lead anywhere
                        else:
                            types |= functions_in(bare.type, self.program.records, set())
        for name in self.program.address_taken:
            type_ = self.program.function_type(name)
            if type_ is None or any(fits(type_, given) for given in types):
                yield name

    def obstacle(self) -> str:
        """Why runs of this program do not follow its edges; empty if they do (but for `setjmp`, of which there is a place)."""
        if self._obstacle is None:
            self._obstacle = next(self._obstacles(), "")
        return self._obstacle

    def _obstacles(self) -> Iterator[str]:
        for name, start in STARTS.items():
            if start.thread and self.is_used(name):
                yield f"{name}() starts code that runs at the same time"
        for name in sorted(beside(self.program).handlers):
            if name in self.program.functions:
                if self.returns(name) and self.writes(name) != NO_WRITES:
                    yield f"{name}() may run at any time, as a signal handler"
            elif name == UNKNOWN:
                yield f"{name} may run at any time, as a signal handler"
            elif name not in self.program.externals:
                yield f"{name}(), of which nothing is known here, may run at any time, as a signal handler"
            elif self.returns(name):
                yield f"{name}() may run at any time, as a signal handler"

    def is_used(self, name: str) -> bool:
        """Whether a function is called, or its address is used."""
        return bool(self.callers(name)) or name in self.program.address_taken

    # -- memory -------------------------------------------------------------------------------------------------

    def writes(self, function: str) -> Writes:
        """What a defined function and all that it calls can change before it returns."""
        known = self._writes.get(function)
        if known is None:
            known, seen, waiting = NO_WRITES, {function}, [function]
            while waiting:
                own, callees = self._own_writes(waiting.pop())
                known = known.joined(own)
                for callee in callees:
                    if callee not in seen:
                        seen.add(callee)
                        waiting.append(callee)
            self._writes[function] = known
        return known

    def _own_writes(self, function: str) -> tuple[Writes, tuple[str, ...]]:
        known = self._own.get(function)
        if known is None:
            cfa = self.program.functions[function]
            found, callees = NO_WRITES, dict[str, None]()
            for edge in cfa.edges:
                match edge.effect:
                    case ir.Assign(target):
                        found = found.joined(self.written_by(target))
                    case ir.Call() as call if self.can_pass(call):
                        found = found.joined(self._called(call, callees))
                    case ir.Unsupported():
                        found = found.joined(self._everything())
            # variables of its own are gone when it has returned
            known = self._own[function] = msgspec.structs.replace(found, locals=frozenset()), tuple(callees)
        return known

    def _called(self, call: ir.Call, callees: dict[str, None]) -> Writes:
        found = NO_WRITES if call.result is None else self.written_by(call.result)
        for target in self.program.targets(call):
            if target not in self.program.functions:
                found = found.joined(self.external(target, call))
            elif self.returns(target):
                callees.setdefault(target)
        return found.joined(self.unknown()) if self.is_open(call) else found

    def is_open(self, call: ir.Call) -> bool:
        """Whether a call through a pointer can reach functions that are not known."""
        return ir.direct_callee(call) is None and (not self._closed or not self.program.targets(call))

    def tag_of(self, lvalue: ir.Expr) -> Tag:
        """What the access says about its object."""
        return tag_of(lvalue, self._bytes_of_any)

    def written_by(self, target: ir.Expr) -> Writes:
        """What an assignment to an lvalue changes that other code can see. An lvalue of a form that is not
        understood, such as `Cast`, may change anything."""
        base = base_of(target)
        if isinstance(base, ir.Var):
            return _to_variable(base)
        return Writes(memory=frozenset({self.tag_of(target)})) if base is not None else self._everything()

    def unknown(self) -> Writes:
        """What code that is not known can change: what it can name or reach, and what functions of the program change that it may
        call."""
        if self._unknown is None:
            if not self.knows_all_code:
                self._unknown = self._everything()
            else:
                self._unknown = _OUTSIDE  # for what the exposed functions themselves ask, which are joined here
                for name in sorted(self.program.address_taken & self.program.functions.keys()):
                    if self.is_exposed(name):
                        self._unknown = self._unknown.joined(self.writes(name))
                self._writes, self._own = {}, {}
        return self._unknown

    def _everything(self) -> Writes:
        return _OUTSIDE.joined(Writes(variables=frozenset(self.program.globals)))

    def external(self, name: str, call: ir.Call) -> Writes:
        """What a call of an external function can change, but for its result."""
        function, at = known_function(name), written_arguments(name, call)
        if function is not None and at is not None:
            found = self._through(call.arguments[position] for position in at)
            return found.joined(_ANYWHERE) if function.result == "static" else found  # what it returned before
        if function is None or not function.is_complete or may_call_back(self.program, name, call):
            return self.unknown()
        found = self._through(call.arguments).joined(Writes(undefined=True))
        return found.joined(_ANYWHERE) if "elsewhere" in function.besides else found  # what it was passed before

    def _through(self, arguments: Iterable[ir.Expr]) -> Writes:
        """What a function can change if it only writes to memory that its arguments point to, directly or not."""
        found = Writes(memory=frozenset({_ERRNO}))
        for argument in arguments:
            bare = ir.strip_casts(argument)
            if isinstance(bare, ir.StringConst | ir.IntConst) or not (
                isinstance(argument.type, Pointer) or isinstance(bare.type, Pointer | Array)
            ):
                continue
            base = base_of(bare.lvalue) if isinstance(bare, ir.AddressOf) else None
            if isinstance(base, ir.Var) and isinstance(bare, ir.AddressOf) and not self._leads_on(base.type):
                found = found.joined(_to_variable(base))
            else:
                found = found.joined(Writes(memory=frozenset({ANY})))
        return found

    def _leads_on(self, type_: Type) -> bool:
        """Whether an object of the type can hold pointers."""
        return any(tag.scalar in ("pointer", "any", "int64") for tag in tags_in(type_, self.program.records))

    def changes(self, writes: Writes, read: ir.Expr, function: str, own: str | None) -> bool:
        """Whether what is read can be among what is changed. `function` is that of the variable which is read, if one is; `own`
        its name there, if it is the same activation that has the `locals`."""
        base = base_of(read)
        if not isinstance(base, ir.Var):
            return base is None or any(may_alias(tag, self.tag_of(read)) for tag in writes.memory)
        if base.scope == "global":
            if base.name in writes.variables or (writes.named and "::" not in base.name):
                return True
            known = self.program.globals.get(base.name)
            if writes.undefined and (known is None or (isinstance(known.initial, ir.Unknown) and not known.parts)):
                return True
        elif own in writes.locals:
            return True
        return self.is_taken(base, function) and any(_alias_variable(tag, base, read, self) for tag in writes.memory)

    def taken(self, function: str) -> frozenset[str]:
        """The parameters and local variables of a function whose address is used."""
        return taken_by(self.program.functions[function]).own

    def is_taken(self, base: ir.Var, function: str) -> bool:
        """Whether somebody can have the address of a variable."""
        if base.scope == "global":
            return not self._closed or base.name in pointed_statics(self.program)
        return (base.name.partition("|")[2] or base.name) in self.taken(function)


def _alias_variable(tag: Tag, base: ir.Var, read: ir.Expr, whole: WholeProgram) -> bool:
    """Whether an access through a pointer can be to a variable, of which a part is read."""
    return may_alias(tag, whole.tag_of(read)) and any(may_alias(tag, own) for own in tags_in(base.type, whole.program.records))


def _to_variable(base: ir.Var) -> Writes:
    names = frozenset({base.name})
    return Writes(variables=names) if base.scope == "global" else Writes(locals=names)


def functions_in(type_: Type, records: Mapping[str, RecordDefinition], seen: set[Type]) -> set[Function]:
    """The types of the functions that an object of the type leads to."""
    found: set[Function] = set()
    if type_ in seen:
        return found
    seen.add(type_)
    match type_:
        case Function():
            found.add(type_)
        case Pointer(target):
            found |= functions_in(target, records, seen)
        case Array(element):
            found |= functions_in(element, records, seen)
        case Record(_, key):
            for member in records[key].members if key in records else ():
                found |= functions_in(member.type, records, seen)
    return found
