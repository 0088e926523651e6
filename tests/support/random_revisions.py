"""Random programs of functions that call one another, and random edits of them: bodies, functions, names, parameters, initial
values. Every run ends, and none does anything undefined. With `flaws`, some come to code that is not understood.

Whoever calls `edit` gets the text of the next revision. Values stay within a few numbers, so that assertions often hold.
"""

from __future__ import annotations

import re
from random import Random

_HEAD = """int nondet(void);
void reach_error(void);
struct pair { int x; int y; };
static void put(int *p, int v) { *p = v; }
static int down(int n) { if (n <= 0) return 0; return 1 + down(n - 1); }
"""
FLAW = '__asm__("nop");'
"""A statement that is not understood."""
_CALL = re.compile(r"CALL(\d+)\(([^;]*)\)")
_PLACES = ("a", "b", "x", "g", "h", "pair.x", "kept")


class _Function:
    def __init__(self, name: str, arity: int, lines: list[str]) -> None:
        self.name = name
        self.arity = arity
        self.lines = lines


class Revisions:
    """A program that is edited. `memory`: it has variables that pointers lead to; `recursion`: a function calls itself; `flaws`:
    it has code that is not understood."""

    def __init__(self, random: Random, *, memory: bool = True, recursion: bool = True, flaws: bool = False) -> None:
        self._random = random
        self._flaws = flaws
        self._memory = memory
        self._recursion = recursion
        self._names = 0
        self._initial = 1
        self._functions: dict[int, _Function] = {}
        for number in range(random.randrange(2, 5)):
            self._add(number)
        self._main = [self._call(number) for number in random.sample(list(self._functions), 2)]
        self._main.append(self._statement(max(self._functions) + 1, 1))
        self._limits = random.randrange(2, 9), random.randrange(2, 9)
        self._past: list[str] = []

    def _add(self, number: int) -> None:
        self._names += 1
        self._functions[number] = _Function(f"f{self._names}", self._random.randrange(1, 3), self._body(number))

    # -- texts --------------------------------------------------------------------------------------------------

    def _expression(self) -> str:
        r = self._random
        match r.randrange(5):
            case 0:
                return str(r.randrange(4))
            case 1:
                return f"({r.choice(_PLACES)} + {r.choice(_PLACES)}) % 8"
            case 2:
                return f"({r.choice(_PLACES)} < {r.randrange(4)} ? {r.choice(_PLACES)} : {r.randrange(4)})"
            case _:
                return r.choice(_PLACES)

    def _assertion(self) -> str:
        r = self._random
        if r.random() < 0.8:
            return f"if ({r.choice(_PLACES)} {r.choice(('< -', '>', '>'))}{r.randrange(3, 9)}) reach_error();"
        return f"if ({r.choice(_PLACES)} == {r.randrange(3, 8)} && {r.choice(_PLACES)} > {r.randrange(3)}) reach_error();"

    def _call(self, number: int) -> str:
        return f"{self._random.choice(('x', 'x', 'g', 'pair.x'))} = CALL{number}({self._expression()}, {self._expression()});"

    def _statement(self, number: int, depth: int) -> str:
        r = self._random
        callees = [other for other in self._functions if other < number]
        if self._flaws and r.random() < 0.08:
            return f"if ({r.choice(_PLACES)} == {r.randrange(4)}) {{ {FLAW} }}"
        match r.randrange(9):
            case 0 | 1 if callees:
                return self._call(r.choice(callees))
            case 2 if self._memory:
                return f"put(&{r.choice(('kept', 'h'))}, {self._expression()});"
            case 3 if self._recursion and r.random() < 0.5:
                return f"x = down({r.choice(_PLACES)} & 3);"
            case 4:
                return self._assertion()
            case 5 if depth < 3:
                inner = self._statement(number, depth + 1)
                return f"if ({r.choice(_PLACES)} {r.choice(('<', '==', '>'))} {r.randrange(4)}) {{ {inner} }}"
            case 6 if depth < 2:
                inner = self._statement(number, depth + 1)
                return f"for (int i{depth} = 0; i{depth} < {r.randrange(1, 4)}; i{depth}++) {{ {inner} }}"
            case 7:
                return f"{r.choice(('x', 'g'))} = nondet() & 3;"
            case _:
                return f"{r.choice(_PLACES)} = {self._expression()};"

    def _body(self, number: int) -> list[str]:
        lines = [self._statement(number, 1) for _ in range(self._random.randrange(1, 4))]
        return [*lines, self._assertion()] if self._random.random() < 0.3 else lines

    def text(self) -> str:
        """The present text."""
        parts = [_HEAD, f"int g = {self._initial}, h;\n"]
        for function in self._functions.values():
            parameters = ", ".join(f"int {name}" for name in "abc"[: function.arity])
            missing = "".join(f"int {name} = 0; " for name in "ab"[function.arity :])
            lines = "".join(f"    {self._resolved(line)}\n" for line in function.lines)
            parts.append(
                f"static int {function.name}({parameters}) {{\n    {missing}int x = 0, kept = 2; struct pair pair = {{1, 2}};\n"
                f"{lines}    return {'x' if function.arity == 1 else '(x < 8 ? x : b)'};\n}}\n"
            )
        lines = "".join(f"    {self._resolved(line)}\n" for line in self._main)
        parts.append("int main(void) {\n    int a = nondet() & 3, b = 0, x = 0, kept = 2; struct pair pair = {1, 2};\n")
        return "".join([*parts, lines, f"    {self._assertion_of_main()}\n    return 0;\n}}\n"])

    def _assertion_of_main(self) -> str:
        return f"if (x > {self._limits[0]} || g > {self._limits[1]}) reach_error();"

    def _resolved(self, line: str) -> str:
        while match := _CALL.search(line):
            function = self._functions.get(int(match[1]))
            arguments = _parted(match[2])
            call = "3" if function is None else f"{function.name}({', '.join(arguments[: function.arity])})"
            line = line[: match.start()] + call + line[match.end() :]
        return line

    # -- edits --------------------------------------------------------------------------------------------------

    def edit(self) -> str:
        """One edit; says what it was."""
        r = self._random
        number = r.choice(list(self._functions))
        function = self._functions[number]
        match r.randrange(9):
            case 0 | 1:
                function.lines = self._body(number)
                return f"{function.name} has another body"
            case 2 | 3:
                at = r.randrange(len(function.lines))
                function.lines[at] = self._statement(number, 1)
                return f"{function.name} has another statement"
            case 4:
                self._names += 1
                before, function.name = function.name, f"f{self._names}"
                return f"{before} is {function.name} now"
            case 5:
                function.arity = 3 - function.arity
                return f"{function.name} has {function.arity} parameters"
            case 6 if len(self._functions) > 1:
                del self._functions[number]
                return f"{function.name} is gone"
            case 7:
                added = max(self._functions) + 1
                self._add(added)
                self._main.append(self._call(added))
                return f"{self._functions[added].name} is new"
            case 8 if r.random() < 0.5:
                self._limits = r.randrange(2, 9), r.randrange(2, 9)
                return f"main asserts {self._limits}"
            case _:
                self._initial = r.randrange(4)
                return f"g starts with {self._initial}"


def _parted(arguments: str) -> list[str]:
    """Arguments, at commas that are in no parentheses."""
    parts, depth = [""], 0
    for character in arguments:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
