"""Where the patterns of the rules match a function's edges; found once per function, used at every step.

Each match says which transition it can fire and for which access path. Matches *before* the edge's effect speak of values as they
are when the edge is entered (accesses, arguments, branches); matches *after* it of the value that the effect stores.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import msgspec

from analysis.c.control import FAILED_ASSERTIONS
from analysis.c.functions import Function, known
from analysis.c.passed_objects import conversion_of
from analysis.cfa.graph import Cfa, Edge, External, Program
from analysis.engines.automaton.functions.access_paths import (
    RESULT,
    Path,
    local_of,
    path_of,
    pointer_into,
    root_of,
    split_pointer,
)
from analysis.engines.automaton.functions.certain_searches import always_finds
from analysis.engines.automaton.functions.known_conditions import condition_of
from analysis.engines.automaton.functions.local_addresses import named, takes_local
from analysis.model import ir
from analysis.model.c_types import Floating, Pointer
from analysis.model.intervals import within
from analysis.model.spelling import display_name
from analysis.rules.automaton import ERROR, START, Rule, Transition
from analysis.rules.library_names import arguments_of_kind
from analysis.rules.patterns import Metavariable, Name, Operation, Pattern, match_call, match_term


def not_null(external: External) -> tuple[int, ...]:
    """The numbers of the arguments that may not be null: as declared, or as a contract of the project says, and what functions of
    system headers access in each call."""
    library = known(external.name) if external.system else None
    return external.nonnull if library is None else tuple(sorted({*external.nonnull, *library.led}))


def _scanned_into(external: External, call: ir.Call) -> tuple[int, ...]:
    """The numbers of the arguments of a call of `scanf`, or one of its like, that conversions of its format write to."""
    library = known(external.name) if external.system else None
    if library is None or not library.positions("out..."):
        return ()
    return tuple(at for at in range(len(call.arguments)) if conversion_of(library, call, at) is not None)


class Match(msgspec.Struct, frozen=True):
    """Transition `transition` of rule `rule` can fire for the value at `path` (None: no path within the limits, or the rule
    tracks nothing). `dropped`: the value is the result of a call that nobody takes."""

    rule: int
    transition: int
    source: str
    target: str
    path: Path | None
    dropped: bool = False


class EdgeMatches(msgspec.Struct, frozen=True):
    """The matches at one edge, each list in the order in which C evaluates the matched parts."""

    before: tuple[Match, ...]
    after: tuple[Match, ...]


NO_MATCHES = EdgeMatches((), ())
_FEW_EFFECTS = 10_000
_Numbered = tuple[int, int, Transition, Pattern]


class PatternIndex:
    """The patterns of all rules, by kind; call patterns by the name of the function they want. `by_kind` are those of a kind of
    library functions: functions that a project describes can be of it, too."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.calls: dict[str, list[_Numbered]] = {}
        self.any_call: list[_Numbered] = []
        self.by_kind: list[_Numbered] = []
        self.kinds: dict[str, list[_Numbered]] = {"assign": [], "branch": [], "access": [], "expression": [], "return": []}
        self.accesses: list[tuple[int, Pattern, list[tuple[int, Transition]]]] = []  # each pattern once, with all transitions
        self.begin: list[_Numbered] = []
        self.nonnull: list[tuple[int, int, Transition]] = []
        self.passed: list[tuple[int, int, Transition]] = []
        self.takes_local: list[tuple[int, int, Transition]] = []
        self.returns_local: list[tuple[int, int, Transition]] = []
        for number, rule in enumerate(rules):
            for index, transition in enumerate(rule.transitions):
                self._add(number, index, transition, rule)

    def _add(self, number: int, index: int, transition: Transition, rule: Rule) -> None:
        trigger = transition.trigger
        if trigger.kind == "nonnull":
            self.nonnull.append((number, index, transition))
        if trigger.kind == "passed":
            self.passed.append((number, index, transition))
        if trigger.kind == "takes-local":
            self.takes_local.append((number, index, transition))
        if trigger.kind == "returns-local":
            self.returns_local.append((number, index, transition))
        if trigger.pattern is None:
            return
        entry = (number, index, transition, trigger.pattern)
        if trigger.kind == "begin":
            self.begin.append(entry)
        elif trigger.pattern.kind != "call":
            self.kinds[trigger.pattern.kind].append(entry)
            if trigger.pattern.kind == "access":
                self._add_access(number, index, transition, trigger.pattern)
        else:
            if kind_of(trigger.pattern, rule) is not None:
                self.by_kind.append(entry)
            for name in wanted_names(trigger.pattern, rule.names):
                self.calls.setdefault(name, []).append(entry)
            if not wanted_names(trigger.pattern, rule.names):
                self.any_call.append(entry)

    def _add_access(self, number: int, index: int, transition: Transition, pattern: Pattern) -> None:
        if not self.accesses or self.accesses[-1][:2] != (number, pattern):
            self.accesses.append((number, pattern, []))
        self.accesses[-1][2].append((index, transition))

    def for_callee(self, name: str) -> Iterable[_Numbered]:
        """The call patterns that a call of the function can match."""
        return (*self.calls.get(display_name(name), ()), *self.any_call)


def wanted_names(pattern: Pattern, names: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """The names of functions that a call pattern is limited to; empty if it is not."""
    match pattern.callee:
        case Name(name):
            return (name,)
        case Metavariable(name) if name in names:
            return tuple(sorted(names[name]))
    return ()


def kind_of(pattern: Pattern, rule: Rule) -> str | None:
    """The kind of library functions that a call pattern is limited to; None if it is to none."""
    return rule.kinds.get(pattern.callee.name) if isinstance(pattern.callee, Metavariable) else None


def _may_be_defined(pattern: Pattern, rule: Rule, function: str) -> bool:
    """Whether a call pattern can be about a function that the program defines. One that the program defines is none of the
    library's, whatever its name is, so no pattern of a kind of library functions means it, nor one of a shipped rule that names
    functions. A rule of a user may name a function of his own. The function that is called where an assertion has failed is
    known by its name alone."""
    is_of_library = rule.shipped or kind_of(pattern, rule) is not None
    return not (is_of_library and wanted_names(pattern, rule.names)) or display_name(function) in FAILED_ASSERTIONS


def _pointers(call: ir.Call, first: int) -> list[int]:
    """The numbers of a call's arguments that are pointers, from one on."""
    return [at for at, one in enumerate(call.arguments) if at >= first and isinstance(one.type, Pointer)]


def _as_of_kind(call: ir.Call, contract: Function, kind: str) -> Iterator[ir.Call]:
    """A call of a function that the project describes, as one of a kind of library functions: with no argument but the one by
    which it is of this kind, or as it is where that is its result."""
    positions = arguments_of_kind(contract, kind)
    if positions == ():
        yield call
    for at in positions or ():
        if at < len(call.arguments):
            yield msgspec.structs.replace(call, arguments=(call.arguments[at],))


class Matcher:
    """Matches the patterns of an index against the edges of one program's functions."""

    def __init__(self, index: PatternIndex, program: Program) -> None:
        self._index = index
        self._program = program
        self.rules = index.rules
        self._found: dict[ir.Effect, EdgeMatches] = {}
        self._most = _FEW_EFFECTS + 2 * sum(len(cfa.edges) for cfa in program.functions.values())
        self._begun: dict[str, tuple[Cfa, tuple[Match, ...]]] = {}
        self._had: WeakKeyDictionary[Cfa, dict[tuple[int, int], tuple[Path, ...]]] = WeakKeyDictionary()
        self._initial: tuple[Match, ...] | None = None

    def revised(self, program: Program, changed: Container[str]) -> Matcher:
        """The matcher for a program with other names, declarations or globals; `changed` are the functions in whose calls that
        shows."""
        other = Matcher(self._index, program)
        other._begun = {name: known for name, known in self._begun.items() if name not in changed}
        return other

    def edge(self, edge: Edge) -> EdgeMatches:
        """All matches at the edge; they depend on its effect alone."""
        found = self._found.get(edge.effect)
        if found is None:
            if len(self._found) >= self._most:  # mostly of effects that were typed and deleted again
                self._found.clear()
            found = self._found[edge.effect] = self._match_effect(edge.effect)
        return found

    def _match_effect(self, effect: ir.Effect) -> EdgeMatches:
        before = list(self._uses(effect))
        after: list[Match] = []
        match effect:
            case ir.Assign(target, value):
                self._assign(target, value, path_of(target), before, after)
            case ir.Return(value) if value is not None:
                self._assign(None, value, (RESULT,), before, after)
                for entry in self._index.kinds["return"]:
                    self._try(entry, entry[3].operands, (value,), before)
                if local_of(value) is not None:
                    found, path = self._index.returns_local, named(value)
                    before.extend(Match(number, at, one.source, one.target, path) for number, at, one in found)
            case ir.Assume():
                before.extend(self._branch(effect))
            case ir.Call():
                self._call(effect, before, after)
        taken = ir.target_of(effect)
        if taken is not None and self._index.takes_local and takes_local(self._program, effect):
            places = self._index.takes_local
            after.extend(Match(number, at, one.source, one.target, path_of(taken)) for number, at, one in places)
        return EdgeMatches(tuple(before), tuple(after)) if before or after else NO_MATCHES

    def _uses(self, effect: ir.Effect) -> Iterator[Match]:
        for expr in ir.expressions(effect):
            yield from self._uses_in(expr, value=True)
        if isinstance(effect, ir.Call) and ir.direct_callee(effect) is None:
            pointer = effect.callee.pointer if isinstance(effect.callee, ir.Deref) else effect.callee
            yield from self._access(pointer)

    def _uses_in(self, expr: ir.Expr, value: bool) -> Iterator[Match]:
        """Yields what an expression accesses, and the expressions in it that match. With `value` False, only the address of the
        lvalue is computed."""
        if isinstance(expr, ir.AddressOf):
            yield from self._uses_in(expr.lvalue, value=False)
            return
        for part in ir.operands(expr):
            inner_value = value if isinstance(expr, ir.Field) or (isinstance(expr, ir.Index) and part is expr.array) else True
            yield from self._uses_in(part, inner_value)
        if isinstance(expr, ir.Deref) and value:
            yield from self._access(expr.pointer)
        if isinstance(expr, ir.Binary) and not (expr.operator == "/" and isinstance(expr.type, Floating)):
            for entry in self._index.kinds["expression"]:
                found: list[Match] = []
                self._try(entry, entry[3].operands, (expr,), found)
                yield from found

    def _access(self, pointer: ir.Expr) -> Iterator[Match]:
        base, _ = split_pointer(pointer)
        if isinstance(base, ir.AddressOf | ir.StringConst):
            return
        for number, pattern, transitions in self._index.accesses:
            bound: dict[str, ir.Expr] = {}
            if match_term(pattern.operands[0], base, bound, self._index.rules[number].names):
                path = self._tracked_path(number, bound)
                yield from (Match(number, index, one.source, one.target, path) for index, one in transitions)

    def _assign(self, target: ir.Expr | None, value: ir.Expr, path: Path | None, before: list[Match], after: list[Match]) -> None:
        for number, index, transition, pattern in self._index.kinds["assign"]:
            rule = self._index.rules[number]
            bound: dict[str, ir.Expr] = {}
            left, right = pattern.operands
            if not match_term(right, value, bound, rule.names):
                continue
            if target is not None and not match_term(left, target, bound, rule.names):
                continue
            if isinstance(left, Metavariable) and left.name == rule.tracks:
                after.append(Match(number, index, transition.source, transition.target, path))
            else:
                before.append(self._match(number, index, transition, bound))

    def _branch(self, assume: ir.Assume) -> Iterator[Match]:
        condition = condition_of(assume)
        if condition is None:
            return
        key, interval = condition
        for number, index, transition, pattern in self._index.kinds["branch"]:
            bound: dict[str, ir.Expr] = {}
            if pattern.interval is None or not within(interval, pattern.interval):
                continue
            if pattern.null != isinstance(key.type, Pointer):
                continue
            if match_term(pattern.operands[0], key, bound, self._index.rules[number].names):
                yield self._match(number, index, transition, bound)

    def _call(self, call: ir.Call, before: list[Match], after: list[Match]) -> None:
        for callee in self._program.targets(call):
            external = self._program.externals.get(callee)
            if external is not None:
                led = (*not_null(external), *_scanned_into(external, call))
                before.extend(self._of_arguments(call, led, self._index.nonnull))
                if known(callee) is None and external.believed is None:
                    before.extend(self._of_arguments(call, _pointers(call, 0), self._index.passed))
            elif (cfa := self._program.functions.get(callee)) is not None and cfa.type.variadic:
                # no parameter holds what goes to `...`, so what the function does with it is not followed
                before.extend(self._of_arguments(call, _pointers(call, len(cfa.type.parameters)), self._index.passed))
            by_kind = self._index.by_kind if external is not None and external.believed is not None else ()
            entries = (*self._index.for_callee(callee), *by_kind)
            found_here = ((*entry, bound) for entry in entries for bound in self._bindings(entry[0], entry[3], call, callee))
            for number, index, transition, pattern, bound in found_here:
                rule = self._index.rules[number]
                if pattern.result == Metavariable(rule.tracks or ""):
                    path = None if call.result is None else path_of(call.result)
                    found = Match(number, index, transition.source, transition.target, path, call.result is None)
                    if found not in after:
                        after.append(found)
                else:
                    found = self._into_object(self._match(number, index, transition, bound), pattern, bound)
                    # a value that the call stores where its argument points to is there after the call
                    stored = Operation("address", (Metavariable(rule.tracks or ""),)) in pattern.operands
                    into = after if stored and transition.source == START else before
                    if found not in into:
                        into.append(found)

    def _bindings(self, rule: int, pattern: Pattern, call: ir.Call, callee: str) -> Iterator[dict[str, ir.Expr]]:
        """What the metavariables of a call pattern stand for, each way in which the call matches it if it reaches this function.
        Where the pattern is about a kind of library functions, and a contract of the project makes the function one, its argument
        is the one by which it is of this kind."""
        definition = self._index.rules[rule]
        if callee in self._program.functions and not _may_be_defined(pattern, definition, callee):
            return
        kind, external = kind_of(pattern, definition), self._program.externals.get(callee)
        if kind == "null-for-some" and always_finds(call, callee):
            return
        bound = match_call(pattern, call, callee, definition.names)
        if bound is not None:
            yield bound
        contract = None if kind is None or external is None else external.believed
        if kind is None or contract is None:
            return
        for like in _as_of_kind(call, contract, kind):
            bound = match_call(msgspec.structs.replace(pattern, callee=None), like, callee, definition.names)
            if bound is not None:
                yield bound

    def _try(self, entry: _Numbered, terms: Sequence[object], exprs: Sequence[ir.Expr], found: list[Match]) -> None:
        number, index, transition, pattern = entry
        bound: dict[str, ir.Expr] = {}
        if len(terms) == len(exprs) and all(
            match_term(term, expr, bound, self._index.rules[number].names)
            for term, expr in zip(pattern.operands, exprs, strict=True)
        ):
            found.append(self._match(number, index, transition, bound))

    def _match(self, number: int, index: int, transition: Transition, bound: Mapping[str, ir.Expr]) -> Match:
        return Match(number, index, transition.source, transition.target, self._tracked_path(number, bound))

    def _of_arguments(
        self, call: ir.Call, positions: Iterable[int], transitions: Sequence[tuple[int, int, Transition]]
    ) -> Iterator[Match]:
        """What these arguments, or the pointers to whose objects they lead, make fire."""
        for position in positions:
            if position < len(call.arguments):
                argument = call.arguments[position]
                path = path_of(pointer_into(argument) or argument)
                for number, index, transition in transitions:
                    yield Match(number, index, transition.source, transition.target, path)

    def _into_object(self, found: Match, pattern: Pattern, bound: Mapping[str, ir.Expr]) -> Match:
        """A match; of an access to what the address of a part of an object leads to, it is one of an access to that object."""
        rule = self._index.rules[found.rule]
        tracked = bound.get(rule.tracks or "")
        if tracked is None or not rule.about_object or kind_of(pattern, rule) != "accesses":
            return found
        pointer = pointer_into(tracked)
        return found if pointer is None else msgspec.structs.replace(found, path=path_of(pointer))

    def _tracked_path(self, number: int, bound: Mapping[str, ir.Expr]) -> Path | None:
        tracked = bound.get(self._index.rules[number].tracks or "")
        return None if tracked is None else path_of(tracked)

    @property
    def asking(self) -> tuple[tuple[int, int], ...]:
        """The transitions, by rule and index, that only fire in functions where a pattern matches."""
        each = ((number, index, one) for number, rule in enumerate(self.rules) for index, one in enumerate(rule.transitions))
        return tuple((number, index) for number, index, transition in each if transition.if_function_has)

    def having(self, cfa: Cfa, program: Program, rule: int, transition: int) -> Iterator[Path]:
        """The paths that the rule's metavariable stands for where a transition's `if_function_has` matches in the function. The
        program may be a later revision than the matcher's, with the same names."""
        calls = [edge.effect for edge in cfa.calls if isinstance(edge.effect, ir.Call)]
        known = self._had.setdefault(cfa, {})
        direct = known.get((rule, transition))
        if direct is None:
            named = ((call, name) for call in calls if (name := ir.direct_callee(call)) is not None)
            direct = known[rule, transition] = tuple(
                path for call, name in named for path in self._had_at(call, name, rule, transition)
            )
        yield from direct
        for call in calls:
            for callee in program.targets(call) if ir.direct_callee(call) is None else ():
                yield from self._had_at(call, callee, rule, transition)

    def _had_at(self, call: ir.Call, callee: str, rule: int, transition: int) -> Iterator[Path]:
        definition = self._index.rules[rule]
        for pattern in definition.transitions[transition].if_function_has:
            for bound in self._bindings(rule, pattern, call, callee):
                path = path_of(bound.get(definition.tracks or "", ir.Unknown(call.callee.type))) if bound else None
                if path is not None:
                    yield path

    def begin(self, program: Program) -> tuple[Match, ...]:
        """What is tracked from the program's start on: globals that `begin` patterns match anywhere, and initial values that
        assign patterns match. The program may be a later revision, with the same globals."""
        found: dict[Match, None] = {}
        beginning: dict[str, tuple[Match, ...]] = {}
        for name, cfa in program.functions.items():
            known = self._begun.get(name)
            if known is None or known[0] is not cfa:
                known = self._begun[name] = (cfa, tuple(self._begin_in(cfa)))
            if known[1]:
                beginning[name] = known[1]
        for name in sorted(beginning):
            found.update(dict.fromkeys(beginning[name]))
        if self._initial is None:
            self._initial = tuple(self._begin_with_globals())
        found.update(dict.fromkeys(self._initial))
        return tuple(found)

    def _begin_in(self, cfa: Cfa) -> Iterator[Match]:
        for edge in cfa.calls:
            call = edge.effect
            assert isinstance(call, ir.Call)
            for callee in self._program.targets(call):
                for number, index, transition, pattern in self._index.begin:
                    for bound in self._bindings(number, pattern, call, callee):
                        match = self._match(number, index, transition, bound)
                        if match.path is not None and match.path[0][0] == "@":
                            yield match

    def _begin_with_globals(self) -> Iterator[Match]:
        for name in sorted(self._program.globals):
            variable = self._program.globals[name]
            after: list[Match] = []
            self._assign(variable.var, variable.initial, (root_of(variable.var),), [], after)
            yield from (match for match in after if match.target != ERROR)

    def assigned(self, target: ir.Var, value: ir.Expr) -> list[Match]:
        """The matches of `target = value` that speak of the target's new value, as when an argument is bound to a parameter."""
        after: list[Match] = []
        self._assign(target, value, path_of(target), [], after)
        return after
