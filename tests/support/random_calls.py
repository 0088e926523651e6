"""Random small C programs with functions that call one another and do what is undefined now and then: null pointers are
dereferenced, numbers divided by zero, and `reach_error()` is called, anywhere. Every run ends.

Members of null are not pointed to: that is undefined by itself (C11 6.5.3.2p4), and nothing here takes note of it.
"""

from __future__ import annotations

from random import Random

_HEAD = """int nondet(void);
void reach_error(void);
void *malloc(unsigned long);
void *calloc(unsigned long, unsigned long);
void free(void *);
struct node { int v; struct node *next; int w; unsigned char c; };
int g = 1;
static int s;
int array[3];
struct node one = {1, 0, 2, 3}, two;
struct node *head = &one;
int *where = &g;
static int (*chosen)(int);
static int plain(int n) { return n + 1; }
static int turned(int n) { s = n; return n ? 0 : 2; }
static struct node *made(void) { return malloc(sizeof(struct node)); }
static struct node *make(int v) { struct node *n = made(); if (!n) return 0; n->v = v; n->next = 0; return n; }
static void put(int *p, int v) { if (p) *p = v; }
static struct node *last(struct node *n) { while (n->next && n->v != 3) n = n->next; return n; }
static int down(int n) { if (n <= 0) return 0; return 1 + down(n - 1); }
"""
_INTS = ("a", "b", "g", "s", "array[1]", "one.v", "two.w", "x", "y")
_BEHIND = ("*p", "q->v", "q->w", "*where", "head->v", "q->c", "r->v")
_NODES = ("q", "r", "head", "q->next", "&one", "&two", "0", "head->next")
_POINTERS = ("p", "where", "&g", "&s", "&x", "&array[1]", "&one.v", "0", "(q ? &q->w : 0)")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class _Function:
    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.number = number
        self.lines: list[str] = []
        self.loops = 0

    def say(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def place(self) -> str:
        return self.random.choice(_INTS if self.random.random() < 0.7 else _BEHIND)

    def value(self) -> str:
        r = self.random
        match r.randrange(7):
            case 0 | 1:
                return str(r.randrange(-1, 4))
            case 2:
                return f"({self.place()} {r.choice('+-')} {r.choice(_INTS)})"
            case 3 if r.random() < 0.3:
                return f"(6 / {r.choice(_INTS)})"
            case 4:
                return f"({self.place()} & {r.randrange(4)})"
            case _:
                return self.place()

    def test(self) -> str:
        r = self.random
        match r.randrange(8):
            case 0:
                return f"{r.choice(('q', 'r', 'p', 'head', 'where'))}"
            case 1:
                return f"!{r.choice(('q', 'r', 'p', 'head', 'where'))}"
            case 2:
                return f"{r.choice(('q', 'r'))} == {r.choice(_NODES)}"
            case 3:
                return f"p == {r.choice(('&g', '&x', 'where', '0'))}"
            case 4:
                return f"{self.place()} == {self.value()} && {self.place()} {r.choice(_COMPARISONS)} {self.value()}"
            case 5:
                return f"{self.place()} == {self.value()} || {self.place()} {r.choice(_COMPARISONS)} {self.value()}"
            case _:
                return f"{self.place()} {r.choice(_COMPARISONS)} {self.value()}"

    def call(self) -> str:
        r = self.random
        arguments = f"({self.value()}) & 3, {self.value()}, {r.choice(_POINTERS)}, {r.choice(_NODES)}"
        if self.number > 1:
            return f"f{r.randrange(1, self.number)}({arguments})"
        return r.choice((f"down(({self.value()}) & 3)", f"plain({self.value()})", f"turned({self.value()})"))

    def statement(self, depth: int) -> None:
        r = self.random
        match r.randrange(16 if depth < 3 else 10):
            case 0 | 1:
                self.say(depth, f"{self.place()} = ({self.value()}) & 7;")
            case 2:
                self.say(depth, f"{r.choice(('a', 'b', 'x', 'y', 'g', 's'))} = nondet() & 3;")
            case 3:
                self.say(depth, f"p = {r.choice(_POINTERS)};")
            case 4:
                self.say(depth, f"{r.choice(('q', 'r', 'head', 'q->next', 'r->next'))} = {r.choice(_NODES)};")
            case 5:
                self.say(depth, f"{r.choice(('a', 'b', 'x'))} = {self.call()};")
            case 6:
                self.say(depth, r.choice((f"put({r.choice(_POINTERS)}, {self.value()});", f"r = make({self.value()});")))
            case 7:
                said = ("r = last(q);", "two = one;", "one = *q;", "where = p;", "chosen = x ? plain : turned;", "x = chosen(b);")
                self.say(depth, r.choice((*said, "r = calloc(1, sizeof(struct node));", "*r = two;")))
            case 8 | 9:
                self.say(depth, f"if ({self.test()}) reach_error();")
            case 10 | 11 | 12:
                self.say(depth, f"if ({self.test()}) {{")
                self.block(depth + 1)
                if r.random() < 0.4:
                    self.say(depth, "} else {")
                    self.block(depth + 1)
                self.say(depth, "}")
            case 13:
                self.loops += 1
                counter = f"i{self.loops}"
                self.say(depth, f"for (int {counter} = 0; {counter} < {r.randrange(1, 4)}; {counter}++) {{")
                self.block(depth + 1)
                self.say(depth, "}")
            case 14:
                self.say(depth, f"switch (({self.value()}) & 3) {{ case 0: x = 1; case 1: y = 2; break; default: q = head; }}")
            case _:
                self.say(depth, f"if ({self.test()}) return {self.value()};")

    def block(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth)

    def text(self) -> str:
        self.say(1, "int x = b, y = 0; struct node *r = q;")
        for _ in range(self.random.randrange(2, 7)):
            self.statement(1)
        self.say(1, f"return {self.value()};")
        kind = self.random.choice(("", "static "))
        body = "\n".join(self.lines)
        return f"{kind}int f{self.number}(int a, int b, int *p, struct node *q) {{\n{body}\n}}\n"


def program(random: Random) -> str:
    """The text of a random program with `int main(void)`."""
    functions = [_Function(random, number).text() for number in range(1, random.randrange(3, 5))]
    calls = []
    for _ in range(random.randrange(1, 4)):
        pointer, node = random.choice(("&g", "0", "where", "array")), random.choice(("head", "&two", "0", "make(2)"))
        calls.append(f"    g = f{random.randrange(1, len(functions) + 1)}(nondet() & 3, nondet() & 3, {pointer}, {node});\n")
    return _HEAD + "".join(functions) + "int main(void) {\n    chosen = plain;\n" + "".join(calls) + "    return 0;\n}\n"
