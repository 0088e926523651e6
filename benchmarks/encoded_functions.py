"""Random C functions for differential tests: straight-line code and branches, no undefined behaviour but signed overflow.

`expression_function` computes with integers of all types and operators; `memory_function` works on structures, arrays, unions,
pointers and allocated blocks, and calls others; `outside_function` on what two pointers lead to that it is given. Each takes the
parameters of `PARAMETERS` and returns an `unsigned long`.
"""

from __future__ import annotations

import random

TYPES = (
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "_Bool",
)
NUMBERS = (("int", "a"), ("unsigned int", "b"), ("long", "c"), ("unsigned char", "d"), ("short", "e"), ("unsigned long", "g"))
PARAMETERS = (*NUMBERS, ("struct record *", "o"), ("int *", "op"))
OUTSIDE_BYTES = 112  # a record, without its pointer, and behind it room for eight integers
_NAMES = tuple(parameter for _, parameter in NUMBERS)
BITS = {"int": 32, "unsigned int": 32, "long": 64, "unsigned char": 8, "short": 16, "unsigned long": 64}
_CONSTANTS = (
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "255",
    "256",
    "65535",
    "2147483647",
    "0x80000000u",
    "(-128)",
    "10u",
    "3L",
    "0xffUL",
    "'x'",
)
DECLARATIONS = """
void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); void free(void *);
void *memcpy(void *, const void *, unsigned long); void *memset(void *, int, unsigned long);
struct inner { short x; char y[4]; };
union mixed { int i; unsigned char b[8]; long l; short h[3]; };
struct record { char c, c2; short h; int i; unsigned u; int i2; long l; unsigned char bytes[8]; int numbers[4]; struct inner t;
  char c3[2]; union mixed m; unsigned f1 : 5; int f2 : 11; unsigned f3 : 16; int i3; int *p; };
static int table[4], fixed[3] = { 3, -5, 70000 };
static struct record shared, other = { 'q', 'r', -2, 5, .numbers = { 1, 2, 3 } };
static int bump(int *p, int d) { if (d < 0) d = 3; *p += d; return *p * 2; }
static struct inner turned(struct inner s, char c) { struct inner t = { s.y[0], { c, s.x, s.y[1] } }; return t; }
static void spread(unsigned char *p, int n, long v) { for (int i = 0; i < n; i++) { p[i] = v; v >>= 3; } }
static unsigned depth(unsigned n) { return n > 3 ? depth(n / 2) + 1 : n; }
"""


def arguments(source: random.Random) -> tuple[int, ...]:
    """Values for the numbers among the parameters, often at the edges of their types."""
    values = []
    for type_, _ in NUMBERS:
        bits, signed = BITS[type_], not type_.startswith("unsigned")
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        edge = source.choice([low, high, 0, 1, high // 2, low + 1, source.randint(-9 if signed else 0, 20)])
        values.append(edge if source.random() < 0.5 else source.randint(low, high))
    return tuple(values)


def expression(source: random.Random, depth: int, atoms: tuple[str, ...] = _NAMES) -> str:
    """An integer expression; divisors are odd or positive, shift distances in range."""
    if depth == 0 or source.random() < 0.15:
        return source.choice(_CONSTANTS) if source.random() < 0.3 else source.choice(atoms)
    part = [expression(source, depth - 1, atoms) for _ in range(3)]
    match source.choice(("arithmetic", "arithmetic", "bitwise", "division", "shift", "comparison", "cast", "unary", "logical")):
        case "arithmetic":
            return f"({part[0]} {source.choice('+-*')} {part[1]})"
        case "bitwise":
            other = (
                part[1] if source.random() < 0.4 else source.choice(("0xf0", "7", "0x7fff", "-8", "0x10u", "0xffff0000u", "~3L"))
            )
            return f"({part[0]} {source.choice('&|^')} {other})"
        case "division":
            divisor = source.choice((f"(({part[1]} & 15) + 1)", f"(-(int)({part[1]} & 7) - 2)", "3", "10u", "-7", "16", "1000L"))
            return f"({part[0]} {source.choice('/%')} {divisor})"
        case "shift":
            return (
                f"(({source.choice(('int', 'unsigned int', 'long', 'unsigned long'))}){part[0]} {source.choice(('<<', '>>'))} "
                + (f"({part[1]} & {source.choice((7, 31))}))" if source.random() < 0.5 else f"{source.randint(0, 31)})")
            )
        case "comparison":
            return f"({part[0]} {source.choice(('<', '<=', '>', '>=', '==', '!='))} {part[1]})"
        case "cast":
            return f"(({source.choice(TYPES)}){part[0]})"
        case "unary":
            return f"({source.choice('-~!')} {part[0]})"
        case _:
            return source.choice(
                (f"({part[0]} && {part[1]})", f"({part[0]} || {part[1]})", f"({part[0]} ? {part[1]} : {part[2]})")
            )


def signature(name: str) -> str:
    """The head of a function."""
    return f"unsigned long {name}({', '.join(f'{type_} {parameter}' for type_, parameter in PARAMETERS)})"


def expression_function(name: str, source: random.Random) -> str:
    """A function that returns an expression, converted to a type of its own first."""
    type_ = source.choice(TYPES)
    return f"{signature(name)} {{ {type_} r = {expression(source, source.randint(1, 4))}; return (unsigned long)r; }}\n"


_SCALARS = (
    *("r.c", "r.h", "r.i", "r.u", "r.l", "r.bytes[{8}]", "r.numbers[{4}]", "r.t.x", "r.t.y[{4}]", "r.m.i", "r.m.b[{8}]"),
    *("r.m.h[{3}]", "r.m.l", "r.f1", "r.f2", "q->i", "q->numbers[{4}]", "q->m.b[{8}]", "q->m.i", "q->f2", "q->t.y[{4}]", "q->l"),
    *("v[{8}]", "w[{16}]", "z[{4}]", "n.i", "n.b[{8}]", "n.l", "n.h[{3}]", "*ip", "ip[{2}]", "*cp", "cp[{3}]", "h[{6}]", "*hp"),
    *("hp[{2}]", "shared.i", "table[{4}]", "s[{3}].x", "s[{3}].y[{4}]", "m2[{2}][{3}]", "*r.p", "k"),
)
_POINTED = ("&v[{6}]", "&r.i", "&r.numbers[{2}]", "h + {4}", "&q->i", "&table[{2}]", "(int *)&n", "&m2[{2}][0]", "&shared.i + 0")
_BYTES = ("(unsigned char *)&r + {40}", "w + {8}", "(unsigned char *)v + {20}", "n.b + {4}", "(unsigned char *)&z[1]", "r.bytes")


def _filled(template: str, source: random.Random, symbolic: float) -> str:
    """A template with an index below each bound that it names."""
    while "{" in template:
        before, _, rest = template.partition("{")
        bound, _, after = rest.partition("}")
        index = str(source.randrange(int(bound)))
        if source.random() < symbolic:
            index = f"({source.choice(('b', 'g', '(unsigned)a', 'd', '(unsigned)k'))} % {bound})"
        template = before + index + after
    return template


def memory_function(name: str, source: random.Random) -> str:
    """A function that reads and writes objects of all kinds through all kinds of lvalues, and returns a digest of them."""
    symbolic = source.choice((0.0, 0.0, 0.15, 0.3))
    lines = [_BEFORE]
    for _ in range(source.randint(3, 12)):
        lines.append(_statement(source, symbolic))
    digest = " ".join(f"x = x * 31 + (unsigned long)({_filled(s, source, 0)});" for s in source.sample(_SCALARS, 8))
    return f"{signature(name)} {{\n" + "\n".join(lines) + f"\n unsigned long x = 0; {digest}\n free(h); free(q); return x; }}\n"


_BEFORE = """ struct record r = { 1, 2, 3 }, r2 = { 'b' }; int v[8] = { 1, 2, 3 }; unsigned char w[16] = "text";
 long z[4] = { -1, a }; union mixed n = { 77 }; struct inner s[3] = { { 1, "ab" } }; int m2[2][3] = { { 1, 2 }, { 3 } };
 long k = c;
 int *h = malloc(6 * sizeof(int)); struct record *q = calloc(1, sizeof(struct record)); if (!h || !q) return 0;
 memset(h, 0, 24); r.l = c; r.p = &v[1]; r2.p = &r2.i; q->p = h; n.l = 77; r.m.l = 0; r2.m.l = 1;
 q->m.l = fixed[1] + other.numbers[2]; memset(&shared, 0, sizeof shared); shared.i = fixed[2]; memset(table, d, sizeof table);
 int *ip = &v[2]; short *hp = r.m.h; unsigned char *cp = w;"""


def _statement(source: random.Random, symbolic: float) -> str:
    scalar = _filled(source.choice(_SCALARS), source, symbolic)
    atoms = (*_NAMES, *(_filled(source.choice(_SCALARS), source, symbolic) for _ in range(3)))
    match source.choice(
        ("set",) * 6
        + ("call", "call", "point", "point", "bytes", "copy", "memcpy", "memset", "branch", "update", "choose", "loop")
    ):
        case "call":
            return _filled(source.choice(_CALLS), source, symbolic).replace("@", expression(source, 1, atoms))
        case "point":
            return f" ip = {_filled(source.choice(_POINTED), source, symbolic)};"
        case "bytes":
            return f" cp = {_filled(source.choice(_BYTES), source, symbolic)};"
        case "copy":
            return source.choice(
                (" r2 = r;", " r = r2;", " *q = r;", " r = *q;", " s[1] = r.t;", " r.t = s[2];", " n = r.m;", " r.m = n;")
            )
        case "memcpy":
            return source.choice(
                (
                    " memcpy(w + 3, &z[1], 8);", " memcpy(&r2, &r, sizeof r);", " memcpy(&n, v, 8);", " memcpy(h, v, 24);",
                    " memcpy(&r.i, w, 4);", " memcpy(z, &r.l, 8);", " memcpy(v + 1, &n.b[2], 4);", " memcpy(&k, cp, 3);",
                )
            )  # fmt: skip
        case "memset":
            return source.choice(
                (" memset(w + 2, d, 5);", " memset(&r.t, 0, sizeof r.t);", " memset(v, -1, 12);", " memset(&n, 7, 4);")
            )
        case "branch":
            return f" if ({expression(source, 2, atoms)}) {scalar} = {expression(source, 1, atoms)}; else k = k / 2;"
        case "update":
            return f" {scalar} {source.choice(('+=', '-=', '^=', '|='))} {expression(source, 1, atoms)};"
        case "choose":
            return f" ip = {expression(source, 1, atoms)} ? &v[1] : &r.i; hp = a > 3 ? &r.h : &s[1].x; (void)hp;" + _restored(
                source
            )
        case "loop":
            return f" for (int i = 0; i < {source.randint(1, 4)}; i++) v[i] = v[i + 1] + (int)({expression(source, 1, atoms)});"
        case _:
            return f" {scalar} = {expression(source, 2, atoms)};"


_CALLS = (
    " k = bump(&v[{8}], @);",
    " r.i = bump(ip, (int)(@));",
    " bump(&q->numbers[{4}], d);",
    " r.t = turned(s[{3}], (char)(@));",
    " s[1] = turned(q->t, e);",
    " spread(w + {8}, 5, @);",
    " spread((unsigned char *)&r.u, 6, @);",
    " spread(cp, 2, k);",
    " r.u = depth(@);",
)
_OUTSIDE = (
    *("o->i", "o->numbers[{4}]", "o->c", "o->h", "o->u", "o->l", "o->t.x", "o->t.y[{4}]", "o->bytes[{8}]", "o->f1", "o->f2"),
    *("op[{4}]", "*op", "o->i2", "v[{4}]", "k"),
)


def outside_function(name: str, source: random.Random) -> str:
    """A function that reads and writes what it is given pointers to, which may point to the same objects."""
    symbolic = source.choice((0.0, 0.0, 0.3))
    lines = [" int v[4] = { 1 }; long k = c;"]
    for _ in range(source.randint(2, 8)):
        atoms = (*_NAMES, *(_filled(source.choice(_OUTSIDE), source, symbolic) for _ in range(3)))
        scalar = _filled(source.choice(_OUTSIDE), source, symbolic)
        if source.random() < 0.2:
            lines.append(f" if ({expression(source, 1, atoms)}) {scalar} = {expression(source, 1, atoms)};")
        elif source.random() < 0.1:
            lines.append(f" k = bump(op + {source.randrange(3)}, {expression(source, 1, atoms)});")
        else:
            lines.append(f" {scalar} = {expression(source, 2, atoms)};")
    digest = " ".join(f"x = x * 31 + (unsigned long)({_filled(s, source, 0)});" for s in source.sample(_OUTSIDE, 6))
    return f"{signature(name)} {{\n" + "\n".join(lines) + f"\n unsigned long x = 0; {digest}\n return x; }}\n"


def _restored(source: random.Random) -> str:
    """`hp` must have two elements in the end."""
    return " hp = s[0].y == (char *)0 ? 0 : r.m.h;" if source.random() < 0.5 else " hp = (short *)v;"
