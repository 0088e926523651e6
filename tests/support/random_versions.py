"""Random programs with arrays, pointers, structures, loops that need not end and recursion, and random edits of them.

Unlike `random_revisions`, bounds leave out runs here, functions change places and bodies, versions come back, and some texts do
not parse; some runs come to code that is not understood. Every run that ends does so without anything else undefined but failed
assertions and numbers that are too large.
"""

from __future__ import annotations

from copy import deepcopy
from random import Random

import msgspec

from tests.support.random_revisions import FLAW

_HEAD = "int nondet(void);\nvoid reach_error(void);\nstruct pair { int x; T y; };\n"
_VALUES = ("a", "x", "g", "h", "list[1]", "pair.y", "*p", "shared.x", "LIMIT")
_PLACES = ("x", "x", "g", "h", "list[x & 3]", "pair.y", "*p", "shared.x", "kept")
_TYPES = ("int", "short", "unsigned char", "long", "unsigned")
_LOOPS = (
    "for (int i{d} = 0; i{d} < {n}; i{d}++) {{ {body} }}",
    "for (int i{d} = 0; i{d} < {v}; i{d}++) {{ if ({test}) continue; {body} }}",
    "while (nondet()) {{ {body} if ({test}) break; }}",
    "do {{ {body} }} while ({test} && nondet());",
    "for (int i{d} = 0; i{d} < {n}; i{d}++) for (int j{d} = 0; j{d} < {n}; j{d}++) {{ if ({test}) goto o{m}; {body} }} o{m}:;",
    "again{m}: {body} if ({test} && nondet()) goto again{m};",
)


class _Function(msgspec.Struct):
    name: str
    has_pointer: bool
    lines: list[str]
    calls_itself: bool = False


class _Source(msgspec.Struct):
    functions: list[_Function]
    main: list[str]
    type: str = "int"
    limit: int = 3
    initial: int = 1
    globals_last: bool = False
    is_broken: bool = False


class Versions:
    """A program that is edited. `text` is the present version."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._count = 0
        self._source = _Source([], [])
        for _ in range(random.randrange(2, 5)):
            self._add()
        self._source.main = [self._statement(None, 1) for _ in range(random.randrange(2, 4))]
        self._past: list[_Source] = []

    def _fresh(self) -> int:
        self._count += 1
        return self._count

    def _add(self) -> None:
        function = _Function(f"f{self._fresh()}", self._random.random() < 0.4, [])
        function.lines = self._body(function)
        self._source.functions.append(function)

    # -- statements ---------------------------------------------------------------------------------------------

    def _body(self, function: _Function) -> list[str]:
        return [self._statement(function, 1) for _ in range(self._random.randrange(1, 4))]

    def _value(self) -> str:
        r = self._random
        match r.randrange(5):
            case 0:
                return str(r.randrange(5))
            case 1:
                return f"({r.choice(_VALUES)} + {r.choice(_VALUES)}) % 7"
            case 2:
                return f"({self._test()} ? {r.choice(_VALUES)} : {r.randrange(4)})"
            case _:
                return r.choice(_VALUES)

    def _test(self) -> str:
        r = self._random
        return f"{r.choice(_VALUES)} {r.choice(('<', '>', '==', '!=', '>='))} {r.choice((*_VALUES, '2', '4'))}"

    def _call(self, function: _Function | None) -> str:
        functions = self._source.functions
        before = functions if function is None or function not in functions else functions[: functions.index(function)]
        if not before:
            return f"x = {self._value()};"
        return f"x = CALL {self._random.choice(before).name} {self._value()};"

    def _statement(self, function: _Function | None, depth: int) -> str:
        r = self._random
        match r.randrange(13):
            case 12:
                return f"if ({self._test()} && {self._test()}) {{ {FLAW} }}"
            case 0 | 1 | 2:
                return self._call(function)
            case 3:
                return f"if ({self._test()} && {self._test()}) reach_error();"
            case 4:
                return f"if ({r.choice(_VALUES)} > {r.randrange(5, 12)}) reach_error();"
            case 5 | 6 if depth < 3:
                names = {"d": str(depth), "m": str(self._fresh()), "n": str(r.randrange(1, 4)), "v": r.choice(_VALUES)}
                return r.choice(_LOOPS).format(**names, body=self._statement(function, depth + 1), test=self._test())
            case 7 if depth < 3:
                other = f" else {{ {self._statement(function, depth + 1)} }}" if r.random() < 0.4 else ""
                return f"if ({self._test()}) {{ {self._statement(function, depth + 1)} }}{other}"
            case 8:
                return f"if ({self._test()}) return {self._value()};"
            case 9:
                return f"switch ({r.choice(_VALUES)}) {{ case 1: x = {self._value()}; case 2: g = 2; break; default: h = x; }}"
            case 10:
                return r.choice(
                    ("p = &kept;", "p = &g;", "p = &list[2];", "shared = pair;", "pair = shared;", "x = nondet() & 7;")
                )
            case _:
                return f"{r.choice(_PLACES)} = {self._value()};"

    # -- texts --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The present text."""
        source = self._source
        head = _HEAD.replace("T y", f"{source.type} y")
        shared = f"int g = {source.initial}, h;\nint list[4];\nstruct pair shared;\n"
        limit = f"enum {{ LIMIT = {source.limit} }};\n"
        bodies = "".join(self._function(function) for function in source.functions)
        first = "extern int g, h; extern int list[4]; extern struct pair shared;\n" if source.globals_last else shared
        lines = "".join(f"    {self._resolved(line)}\n" for line in source.main)
        main = (
            "int main(void) {\n    int a = nondet() & 7, x = 0, kept = 1, *p = &g; struct pair pair = {1, 2};\n"
            f"{lines}    if (x > 9 || g > 8) reach_error();\n    return 0;\n}}\n"
        )
        broken = "int broken( {\n" if source.is_broken else ""
        return head + limit + first + bodies + broken + main + (shared if source.globals_last else "")

    def _function(self, function: _Function) -> str:
        lines = "".join(f"    {self._resolved(line)}\n" for line in function.lines)
        parameters, own = ("int a, int *p", "") if function.has_pointer else ("int a", " int *p = &h;")
        if function.calls_itself:  # then it can have no variables in memory
            lines = lines.replace("p = &kept", "p = &g")
            again = f"{function.name}(a - 1{', p' if function.has_pointer else ''})"
            lines = f"    if (a > 0) x = {again};\n" + lines
        return (
            f"static int {function.name}({parameters}) {{\n    int x = 0, kept = 2;{own} struct pair pair = {{1, 2}};\n"
            f"{lines}    return x & 7;\n}}\n"
        )

    def _resolved(self, line: str) -> str:
        known = {function.name: function for function in self._source.functions}
        while "CALL " in line:
            before, _, rest = line.partition("CALL ")
            name, _, rest = rest.partition(" ")
            value, _, rest = rest.partition(";")
            function = known.get(name)
            call = "3" if function is None else f"{name}({value}{', p' if function.has_pointer else ''})"
            line = f"{before}{call};{rest}"
        return line

    # -- edits --------------------------------------------------------------------------------------------------

    def edit(self) -> str:
        """One edit; says what it was."""
        r = self._random
        if self._past and (self._source.is_broken or r.random() < 0.1):
            self._source = self._past.pop() if self._source.is_broken else r.choice(self._past)
            self._source = deepcopy(self._source)
            return "an earlier version is back"
        self._past.append(deepcopy(self._source))
        return self._edited()

    def _edited(self) -> str:
        r, source = self._random, self._source
        one = r.choice(source.functions)
        match r.randrange(14):
            case 0 | 1:
                one.lines = self._body(one)
                return f"{one.name} has another body"
            case 2 | 3:
                one.lines[r.randrange(len(one.lines))] = self._statement(one, 1)
                return f"{one.name} has another statement"
            case 4:
                return self._renamed(one)
            case 5:
                one.has_pointer = not one.has_pointer
                return f"{one.name} has other parameters"
            case 6:
                other = r.choice(source.functions)
                one.name, other.name = other.name, one.name
                source.functions.sort(key=lambda function: int(function.name[1:]))
                return f"{one.name} and {other.name} change names"
            case 7:
                one.calls_itself = not one.calls_itself
                return f"{one.name} calls itself, or no more"
            case 8:
                source.globals_last = not source.globals_last
                return "globals are elsewhere"
            case 9:
                source.type = r.choice(_TYPES)
                return f"a member is {source.type}"
            case 10:
                source.limit = r.choice((2, 3, 9))
                return f"the limit is {source.limit}"
            case 11:
                source.is_broken = True
                return "the text does not parse"
            case 12:
                self._add()
                source.main.insert(r.randrange(len(source.main)), f"x = CALL {source.functions[-1].name} x;")
                return "a function is new"
            case _ if len(source.functions) > 1:
                source.functions.remove(one)
                return f"{one.name} is gone"
            case _:
                source.initial = r.randrange(4)
                return f"g starts with {source.initial}"

    def _renamed(self, function: _Function) -> str:
        before, function.name = function.name, f"f{self._fresh()}"
        source = self._source
        for lines in (source.main, *(other.lines for other in source.functions)):
            lines[:] = [line.replace(f"CALL {before} ", f"CALL {function.name} ") for line in lines]
        return f"{before} is {function.name} now"
