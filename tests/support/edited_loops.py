"""Random programs of a few loops with assertions, mostly safe ones, and random edits of them: their proofs need invariants that a
search finds. Any text that comes out is defined behaviour, on all inputs, up to the assertion that fails."""

from __future__ import annotations

from random import Random

import msgspec
from msgspec.structs import replace

HEAD = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n"
_BODIES = {
    "count": """int $i = $first;
while ($i $less $most) {
    $i = $i + $step;$more
}
if ($i != $most)
    reach_error();""",
    "together": """int $i = $first, $j = $first;
while (__VERIFIER_nondet_int()) {
    if ($i > $most)
        break;
    $i = $i + $step;
    $j = $j + $other;$more
}
if ($i != $j)
    reach_error();""",
    "window": """int $i = $first, $j = 0;
do {
    if (__VERIFIER_nondet_int()) {
        if ($i == $most - 1)
            $i = $i - $step;
        $i = $i + 1;$more
    }
    $j = __VERIFIER_nondet_int();
} while ($j);
if ($i >= $most)
    reach_error();""",
    "phases": """int $i = 0, $j = 0;
while (__VERIFIER_nondet_int()) {
    if ($i == 0) {
        $i = $step;
        $j = $other;
    } else {
        $i = 0;
        $j = 0;
    }$more
}
if ($i != $j)
    reach_error();""",
    "clipped": """int $i = __VERIFIER_nondet_int(), $j = 0;
if ($i < 0)
    $i = 0;
if ($i > $most)
    $i = $most;
while ($j < $i) {
    $j = $j + 1;$more
}
if ($j $less $first || $j > $most + $other - $step)
    reach_error();""",
}
_LESS = ("<", "<", "<", "<=")
_MORE = ("", "", "\n    $k = $k + 1;", "\n    if ($k > 5)\n        $k = 0;", "\n    $k = $i;")


class Part(msgspec.Struct, frozen=True):
    """A loop with its assertion. `name` makes its variables other ones than those of other parts."""

    kind: str
    name: str
    first: int = 0
    most: int = 5
    step: int = 1
    other: int = 1
    less: str = "<"
    more: str = ""
    called: bool = False

    def text(self) -> str:
        """Its statements."""
        found = _BODIES[self.kind].replace("$more", self.more)
        for name, value in (("first", self.first), ("most", self.most), ("step", self.step), ("other", self.other)):
            found = found.replace(f"${name}", str(value))
        found = found.replace("$less", self.less)
        for letter in "ijk":
            found = found.replace(f"${letter}", f"{letter}_{self.name}")
        return f"int k_{self.name} = 0;\n{found}"


class EditedLoops:
    """One program, edit by edit."""

    def __init__(self, random: Random, parts: int = 0) -> None:
        """`parts`: how many loops; 0: one to three, however it is drawn."""
        self._random, self._names = random, 0
        self._parts = [self._part() for _ in range(parts or random.randint(1, 3))]
        self._most = max(3, parts)

    def text(self) -> str:
        """The program as it is now."""
        functions, statements = list[str](), list[str]()
        for part in self._parts:
            body = "\n".join(f"    {line}" for line in part.text().splitlines())
            if part.called:
                functions.append(f"static void run_{part.name}(void)\n{{\n{body}\n}}\n")
                statements.append(f"    run_{part.name}();")
            else:
                statements.append(f"    {{\n{body}\n    }}")
        return "\n".join((HEAD, *functions, "int main(void)\n{", *statements, "    return 0;\n}\n"))

    def edit(self) -> str:
        """Changes something; what."""
        random, at = self._random, self._random.randrange(len(self._parts))
        part = self._parts[at]
        match kind := random.choice(("constant", "statement", "condition", "renamed", "moved", "part", "function", "back")):
            case "constant":
                name = random.choice(("first", "most", "step", "other"))
                most = {"first": 3, "most": 9, "step": 3, "other": 3}[name]
                part = replace(part, **{name: random.randint(int(name != "first"), most)})
            case "statement":
                part = replace(part, more=random.choice(_MORE))
            case "condition":
                part = replace(part, less=random.choice(_LESS))
            case "renamed":
                part = replace(part, name=self._name())
            case "function":
                part = replace(part, called=not part.called)
            case "moved":
                self._parts[at] = self._parts[-1]
                self._parts[-1] = part
                return kind
            case "part":
                if len(self._parts) < self._most and random.random() < 0.6:
                    self._parts.insert(at, self._part())
                elif len(self._parts) > 1:
                    del self._parts[at]
                return kind
            case _:  # to what is safe
                part = Part(part.kind, part.name, more=part.more, called=part.called)
        self._parts[at] = part
        return kind

    def _part(self) -> Part:
        random = self._random
        part = Part(random.choice(tuple(_BODIES)), self._name(), most=random.randint(3, 9), called=random.random() < 0.3)
        return replace(part, step=2, other=2) if part.kind == "together" and random.random() < 0.5 else part

    def _name(self) -> str:
        self._names += 1
        return f"n{self._names}"
