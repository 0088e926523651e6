"""The text under construction, names, chance, and what is in scope."""

from __future__ import annotations

from random import Random

from benchmarks.random_c.scalar_types import INT, LONG, UNSIGNED, UNSIGNED_LONG, Int, Member, Names, Value


class Writer:
    """What the parts of the generator share."""

    def __init__(self, seed: int, prefix: str, risk: float = 0.02) -> None:
        self._random = Random(seed)
        self._prefix = prefix
        self._risk = risk if self._random.random() < 0.5 else 0.0
        self._lines: list[str] = []
        self._indent = 0
        self._counter = 0
        self._names = Names([], [])
        self._banned: set[str] = set()
        self._once: str | None = None
        self._calls = True
        self._loops = 0
        self._old_style: set[str] = set()
        self._silent = False  # in a function that may be called in any order: it must not print
        self._records: list[tuple[str, list[Member]]] = []
        self._overlapping: dict[str, str] = {}  # the other member of the union that a member is in
        self._pure: list[tuple[str, Int, list[Int]]] = []
        self._impure: list[tuple[str, Int, list[Int]]] = []
        self._struct_functions: list[tuple[str, int]] = []
        self._globals = Names([], [])
        self._global_records: list[tuple[str, int]] = []
        self._local_records: list[tuple[str, int]] = []
        self._local_scalars: list[Value] = []
        self._hidden: list[tuple[str, int]] = []

    def _line(self, text: str) -> None:
        self._lines.append("    " * self._indent + text)

    def _open(self, text: str) -> None:
        self._line(text + " {")
        self._indent += 1

    def _close(self, text: str = "}") -> None:
        self._indent -= 1
        self._line(text)

    def _name(self, stem: str) -> str:
        self._counter += 1
        return f"{stem}{self._counter}"

    def _global_name(self, stem: str) -> str:
        return self._prefix + self._name(stem)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _risky(self) -> bool:
        return self._risk > 0 and self._chance(self._risk)

    def _constant(self) -> Value:
        r = self._random
        kind = r.randrange(10)
        if kind < 5:
            return Value(str(r.randrange(0, 12)), INT)
        if kind == 5:
            return Value(f"(-{r.randrange(1, 200)})", INT)
        if kind == 6:
            return Value(r.choice(["'a'", "'\\n'", "'\\xff'", "'\\0'", "'\\177'", "'\\\\'"]), INT)
        if kind == 7:
            return Value(f"{r.choice(['0x7fffffff', '0x80', '0xff', '077', '0x1234'])}", INT)
        if kind == 8:
            return r.choice(
                [
                    Value("0xffffffffu", UNSIGNED),
                    Value("0x80000000", UNSIGNED),
                    Value("4000000000", LONG),
                    Value("7ul", UNSIGNED_LONG),
                ]
            )
        return Value(str(r.randrange(0, 70000)), INT)
