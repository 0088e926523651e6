"""Random small programs in two versions, of which the second one was made from the first by a few edits of single statements.

They have branches, loops that end, calls, recursion, a global variable, pointers and members; assertions fail often. No run does
anything undefined.
"""

from __future__ import annotations

from random import Random

_HEAD = """int nondet(void);
void reach_error(void);
struct pair { int a; int b; };
int g;
static int s = 1, left = 3;
"""
_PLACES = ("x", "y", "z", "g", "s", "*p", "k.a", "k.b", "q->a", "t[1]")
_Body = list[str]


def versions(random: Random) -> tuple[str, str]:
    """The texts of both versions."""
    functions: dict[str, _Body] = {}
    for name in ("f1", "f2", "main"):
        functions[name] = [_statement(random, name, 0) for _ in range(random.randrange(2, 6))]
    functions["main"].append("if (x > 1 || g > 2) reach_error();")
    old = _text(functions)
    initial = 0 if random.random() < 0.9 else 2
    for _ in range(random.randrange(1, 4)):
        name = random.choice(list(functions))
        functions[name] = _edited(random, name, functions[name])
    return old, _text(functions, initial)


def _text(functions: dict[str, _Body], initial: int = 0) -> str:
    texts = [_HEAD.replace("int g;", f"int g = {initial};")]
    for name, body in functions.items():
        parameters = "void" if name == "main" else "int x, int *p"
        own = "int x = nondet() & 3; int *p = &x; " if name == "main" else ""
        lines = "".join(f"    {line}\n" for line in body)
        texts.append(
            f"int {name}({parameters}) {{\n    {own}int y = 0, z = 1, n[2]; int t[2] = {{0, 1}}; struct pair k = {{1, 2}};\n"
            f"    struct pair *q = &k;\n{lines}    return {'z' if name == 'main' else _result(body)};\n}}\n"
        )
    return "".join(texts)


def _result(body: _Body) -> str:
    """What a function returns, by the number of its statements, so that some edits change it."""
    return ("x", "y", "z", "g & 3")[len(body) % 4]


def _edited(random: Random, name: str, body: _Body) -> _Body:
    at = random.randrange(len(body)) if body else 0
    match random.randrange(4):
        case 0 if body:
            return [*body[:at], *body[at + 1 :]]
        case 1:
            return [*body[:at], _statement(random, name, 0), *body[at:]]
        case 2 if len(body) > 1:
            other = random.randrange(len(body))
            swapped = list(body)
            swapped[at], swapped[other] = swapped[other], swapped[at]
            return swapped
        case _:
            return [*body[:at], _statement(random, name, 0), *body[at + 1 :]]


def _value(random: Random) -> str:
    match random.randrange(4):
        case 0:
            return str(random.randrange(4))
        case 1:
            return f"({random.choice(_PLACES)} + {random.choice(_PLACES)}) & 3"
        case _:
            return random.choice(_PLACES)


def _test(random: Random) -> str:
    return f"{random.choice(_PLACES)} {random.choice(('==', '<', '>'))} {random.randrange(3)}"


def _statement(random: Random, name: str, depth: int) -> str:
    callees = {"f1": [], "f2": ["f1"], "main": ["f1", "f2"]}[name]
    inner = "" if depth > 1 else _statement(random, name, depth + 1)
    match random.randrange(12):
        case 0:
            return f"{random.choice(('x', 'y', 'g'))} = nondet() & 3;"
        case 1 | 2 if callees:
            to = random.choice(("&x", "&g", "&s", "p", "&k.b"))
            return f"{random.choice(('x', 'y', 'z', 'k.a'))} = {random.choice(callees)}({_value(random)}, {to}) & 3;"
        case 3 | 4 if inner:
            return f"if ({_test(random)}) {{ {inner} }}"
        case 5 if inner:
            return f"if ({_test(random)}) {{ {inner} }} else {{ {_statement(random, name, 2)} }}"
        case 6 if inner:
            n, limit = f"n[{depth}]", random.choice(("2", "(y & 3)"))
            return f"for ({n} = 0; {n} < {limit}; {n}++) {{ {inner} if ({_test(random)}) break; }}"
        case 7:
            return f"if ({_test(random)}) reach_error();"
        case 8:
            return f"p = {random.choice(('&x', '&g', '&s', '&k.a', '&t[0]'))};"
        case 9 if name == "f1":
            return "if (x > 0 && left > 0) { left--; z = f1((x & 3) - 1, p); }"
        case _:
            return f"{random.choice(_PLACES)} = {_value(random)};"
