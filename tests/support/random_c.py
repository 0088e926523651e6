"""Random small C programs for the tests of the CPA framework: every run ends, and none does anything undefined.

`program(random)` is the text of a program with `int main(void)`, which reads inputs from `nondet()`, each cut to 0 to 3, and may
call `reach_error()`. Values stay small: products only with constants, loops of at most three rounds, so that nothing overflows.
"""

from __future__ import annotations

from random import Random

_HEAD = """int nondet(void);
void reach_error(void);
struct pair { int x; unsigned char y; };
int g = 1;
int array[3];
struct pair pair;
static int twice(int n) { return n + n; }
static void store(int *where, int value) { *where = value; }
static struct pair made(int x) { struct pair p; p.x = x; p.y = (unsigned char)(x + 1); return p; }
static int down(int n) { if (n <= 0) return 0; return 1 + down(n - 1); }
"""
_INTS = ("a", "b", "c", "g", "pair.x", "array[0]", "array[2]", "*p", "q->x")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class _Writer:
    def __init__(self, random: Random, indices: bool) -> None:
        self.random = random
        self.indices = indices
        self.lines: list[str] = []
        self.loops = 0

    def say(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def value(self, depth: int = 0) -> str:
        r = self.random
        match r.randrange(10 if depth < 2 else 4):
            case 0 | 1:
                return str(r.randrange(-2, 5))
            case 2 | 3:
                return r.choice(_INTS)
            case 4:
                return f"({self.value(depth + 1)} {r.choice('+-')} {self.value(depth + 1)})"
            case 5:
                return f"({r.choice(_INTS)} * {r.randrange(3)})"
            case 6:
                return f"(int)(unsigned char)({r.choice(_INTS)})"
            case 7:
                return f"(({self.value(depth + 1)}) {r.choice('&|^')} {r.randrange(4)})"
            case 8:
                return f"array[({r.choice(_INTS)}) & 1]" if self.indices else "array[1]"
            case _:
                return f"(int)({r.randrange(3)}u - (unsigned)({r.choice(_INTS)}))" if r.random() < 0.3 else "(int)pair.y"

    def test(self) -> str:
        r = self.random
        one = f"{self.value(1)} {r.choice(_COMPARISONS)} {self.value(1)}"
        match r.randrange(6):
            case 0:
                return f"({one}) && {r.choice(_INTS)}"
            case 1:
                return f"({one}) || !({r.choice(_INTS)})"
            case 2:
                return r.choice(("p == &a", "p != &array[2]", "q == &pair"))
            case _:
                return one

    def small(self, name: str) -> str:
        """The variable brought back to a few values, so that no sum can overflow however often it is repeated."""
        return f"{name} = ({name} > 50 || {name} < -50) ? 7 : {name};"

    def statement(self, depth: int) -> None:
        r = self.random
        name = r.choice(_INTS)
        match r.randrange(13 if depth < 3 else 8):
            case 0 | 1:
                self.say(depth, f"{name} = {self.value()};")
                self.say(depth, self.small(name))
            case 2:
                self.say(depth, f"{name} = nondet() & 3;")
            case 3:
                self.say(depth, f"p = {r.choice(('&a', '&b', '&g', '&pair.x', '&array[1]', 'array + 2'))};")
            case 4:
                self.say(depth, f"{r.choice(('a', 'b'))} = {r.choice(('twice', 'down'))}(({r.choice(_INTS)}) & 3);")
            case 5:
                self.say(depth, f"store({r.choice(('p', '&c', '&array[0]'))}, ({self.value()}) & 7);")
            case 6:
                self.say(depth, r.choice((f"pair = made(({name}) & 3);", "other = pair;", "pair = other;", "other.x++;")))
            case 7:
                self.say(depth, f"q = {r.choice(('&pair', '&other'))};")
            case 8 | 9:
                self.say(depth, f"if ({self.test()}) {{")
                self.block(depth + 1)
                if r.random() < 0.5:
                    self.say(depth, "} else {")
                    self.block(depth + 1)
                self.say(depth, "}")
            case 10:
                self.loops += 1
                counter = f"i{self.loops}"
                self.say(depth, f"for (int {counter} = 0; {counter} < {r.randrange(1, 4)}; {counter}++) {{")
                self.block(depth + 1)
                self.say(depth, "}")
            case 11:
                self.say(depth, f"switch (({name}) & 3) {{ case 0: a = 1; case 1: b = 2; break; default: {self.small(name)} }}")
            case _:
                self.say(depth, f"if ({self.test()}) reach_error();")

    def block(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth)


def program(random: Random, indices: bool = True) -> str:
    """The text of a random program; `indices`: elements of arrays are read at computed indices."""
    writer = _Writer(random, indices)
    writer.say(1, "int a = nondet() & 3, b = 0, c = 2; int *p = &a; struct pair other = {1, 2}; struct pair *q = &pair;")
    for _ in range(random.randrange(3, 9)):
        writer.statement(1)
    writer.say(1, f"if ({writer.test()}) reach_error();")
    writer.say(1, f"return {writer.value()};")
    return _HEAD + "int main(void) {\n" + "\n".join(writer.lines) + "\n}\n"
