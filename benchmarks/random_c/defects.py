"""Programs with inputs, and with defects that depend on them."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.random_c.programs import RandomProgram
from benchmarks.random_c.scalar_types import INT, Value

INPUT = "__VERIFIER_nondet_int"
INPUT_PRELUDE = f"int {INPUT}(void);\nvoid reach_error(void);\n"


class DefectProgram(RandomProgram):
    """A program that reads a few inputs first, and among whose statements are some that go wrong for some of them (or for none,
    or for all). `entry` has no parameters; the other statements are those of `RandomProgram`, fewer of them."""

    def _write_program(self) -> None:
        self._write_record()
        for _ in range(self._random.randrange(1, 3)):
            self._write_global()
        if self._chance(0.7):
            self._write_pure(recursive=False)
        if self._chance(0.3):
            self._write_impure()
        if self._chance(0.3):
            self._write_struct_function()
        self._write_main()

    def _as_truth(self, text: str) -> str:
        """What is compared with zero is computed: gcc makes `a != b` of `a - b ? x : y` before it looks for overflows."""
        return f"({text}) != 0"

    def _write_main(self) -> None:
        self._enter_function([], with_globals=True)
        self._open(f"void {self._prefix}main(void)")
        self._caution = self._random.choice([0.3, 0.8, 1.0])
        self._inputs = [self._name("in") for _ in range(self._random.randrange(1, 4))]
        for name in self._inputs:
            self._line(f"int {name} = {INPUT}();")
            self._names.scalars.append(Value(name, INT))
        for _ in range(self._random.randrange(1, 3)):
            self._declare_scalar()
        if self._chance(0.5):
            self._declare_array()
        kinds: list[Callable[[], None] | None] = [None] * self._random.randrange(0, 2)
        kinds += self._random.choices(self._defects(), k=self._random.randrange(1, 4))
        self._random.shuffle(kinds)
        for kind in kinds:
            if kind is None:
                self._statement(1)
            else:
                kind()
        for value in self._local_scalars:
            self._line(f'out("{value.text}", {value.text});')
        self._close()
        self._leave_function()

    def _defects(self) -> list[Callable[[], None]]:
        return [
            self._write_null,
            self._write_division,
            self._write_index,
            self._write_overflow,
            self._write_shift,
            self._write_freed_twice,
            self._write_freed_early,
            self._write_freed_inside,
            self._write_asserted,
            self._write_asserted,
            self._write_short_block,
        ]

    def _input(self) -> str:
        return self._random.choice(self._inputs)

    def _likely(self) -> int:
        return self._random.choice([0, 1, 2, 3, 5, 7, 10, 16, 100, 255, 1000, 4711, -1, -7, 65536, 2147483647])

    def _on_inputs(self) -> str:
        """A condition on inputs."""
        r, one = self._random, self._input()
        match r.randrange(6):
            case 0:
                return f"{one} == {self._likely()}"
            case 1:
                return f"{one} > {self._likely()}"
            case 2:
                return f"{one} < {self._likely()} && {self._input()} != {self._likely()}"
            case 3:
                return f"({one} & {r.choice([1, 3, 6, 12, 255])}) == {r.randrange(0, 8)}"
            case 4:
                return f"{one} % {r.randrange(2, 9)} == {r.randrange(-2, 4)}"
        return f"({one} ^ {self._likely()}) == {self._input()}"

    def _is_guarded(self) -> bool:
        return self._chance(self._caution)

    def _write_null(self) -> None:
        name, pointer = self._name("v"), self._name("q")
        condition = self._on_inputs()
        self._line(f"int {name} = {self._random.randrange(9)}; int *{pointer} = &{name};")
        self._line(f"if ({condition}) {pointer} = 0;")
        if self._is_guarded():
            condition = self._random.choice([f"!({condition})", pointer])
            self._open(f"if ({condition})")
            self._line(f"*{pointer} = 1;")
            self._close()
        else:
            self._line(f"{name} = *{pointer} + 1;")

    def _write_division(self) -> None:
        name, operator = self._name("v"), self._random.choice(["/", "%"])
        divisor = self._random.choice([f"({self._input()} & 15)", f"({self._input()} ^ {self._likely()})", self._input()])
        guard = f"{divisor} == 0 ? 0 : " if self._is_guarded() else ""
        self._line(f"int {name} = {guard}{self._random.randrange(1, 99)} {operator} {divisor};")
        self._line(f'out("{name}", {name});')

    def _write_index(self) -> None:
        name, at, length = self._name("b"), self._name("i"), self._random.randrange(2, 7)
        self._line(f"int {name}[{length}] = {{0}}; int {at} = {self._input()} & {self._random.choice([1, 3, 7])};")
        self._line(f"if ({at} < {length if self._is_guarded() else 8}) {name}[{at}] = {self._input()};")

    def _write_overflow(self) -> None:
        name, operator = self._name("v"), self._random.choice(["+", "-"])
        left = f"(({self._input()} & 0xffff) - 32768)" if self._is_guarded() else self._input()
        right = self._random.randrange(-9, 9) if left[0] == "(" else self._likely()
        self._line(f"int {name} = {left} {operator} {right};")
        self._line(f'out("{name}", {name});')

    def _write_shift(self) -> None:
        name = self._name("v")
        mask = self._random.choice([7, 15, 31]) if self._is_guarded() else 63
        self._line(f"unsigned {name} = 3u << ({self._input()} & {mask});")
        self._line(f'out("{name}", {name});')

    def _allocate(self) -> tuple[str, int]:
        name, length = self._name("h"), self._random.randrange(1, 6)
        self._line(f"int *{name} = calloc({length}, sizeof(int));")
        return name, length

    def _write_freed_twice(self) -> None:
        name, _ = self._allocate()
        self._line(f"if ({self._on_inputs()}) {{ free({name});{f' {name} = 0;' if self._is_guarded() else ''} }}")
        self._line(f"if ({self._on_inputs()}) free({name});")

    def _write_freed_early(self) -> None:
        name, length = self._allocate()
        forgotten = f" {name} = 0;" if self._is_guarded() else ""
        self._line(f"if ({self._on_inputs()}) {{ free({name});{forgotten} }}")
        self._line(f"if ({name}) {name}[{self._random.randrange(length)}] = 1;")

    def _write_freed_inside(self) -> None:
        name, _ = self._allocate()
        offset = f"0 * ({self._on_inputs()})" if self._is_guarded() else f"({self._on_inputs()})"
        self._line(f"free({name} + {offset});")

    def _write_short_block(self) -> None:
        name, length = self._allocate()
        most = f"at < {length} && " if self._is_guarded() else ""
        self._line(f"for (int at = 0; {most}at < ({self._input()} & 7); at++) {name}[at] = at;")
        self._line(f"free({name});")

    def _write_asserted(self) -> None:
        name, number = self._name("v"), self._likely()
        self._line(f"long {name} = {self._input()};")
        if self._chance(0.5):
            self._line(f"for (int at = 0; at < ({self._input()} & 3); at++) {name} += {self._random.randrange(1, 9)};")
        other = f"{name} < {number}" if self._is_guarded() else self._on_inputs()
        self._line(f"if ({name} == {number} && {other}) reach_error();")
