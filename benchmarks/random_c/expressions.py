"""Integer expressions, of known type, whose value does not depend on the order of evaluation."""

from __future__ import annotations

import re

from benchmarks.random_c.scalar_types import INT, TYPES, UNSIGNED_LONG, Int, Value, common, promote, unsigned_of
from benchmarks.random_c.writer import Writer

_VARIABLE = re.compile(r"\b[a-z]\w*\d\b")


def _varies(text: str) -> bool:
    """Whether an expression has a variable in it: the overflow of constants the compiler computes, and no sanitizer sees it."""
    return _VARIABLE.search(text) is not None


class Expressions(Writer):
    """Expressions."""

    def _readable(self) -> list[Value]:
        return [value for value in self._names.scalars if value.text not in self._banned]

    def _leaf(self) -> Value:
        r = self._random
        kind = r.randrange(12)
        scalars = self._readable()
        if self._once is not None and self._chance(0.4):
            name, self._once = self._once, None
            type_ = next(value.type for value in self._names.scalars if value.text == name)
            return Value(r.choice([f"{name}++", f"--{name}"]), type_)
        if kind < 6 and scalars:
            return r.choice(scalars)
        if kind == 6 and self._names.arrays:
            return self._element()
        if kind == 7:
            return self._member() or self._constant()
        if kind == 8 and self._pure and self._calls:
            return self._pure_call()
        if kind == 9 and scalars:
            return Value(f"sizeof({r.choice(scalars).text})", UNSIGNED_LONG)
        return self._constant()

    def _element(self, *, target: bool = False) -> Value:
        name, type_, length = self._random.choice(self._names.arrays)
        return Value(f"{name}[{self._index(length, target=target)}]", type_)

    def _index(self, length: int, *, target: bool = False) -> str:
        """An index. Only that of a `target` may be out of bounds: what does not matter the compiler does not even read."""
        if target and self._chance(4 * self._risk):
            return f"({self._expression(1).text}) & 15"
        if self._chance(0.4):
            return str(self._random.randrange(length))
        return f"(unsigned)({self._expression(1).text}) % {length}"

    def _record_list(self) -> list[tuple[str, int]]:
        return self._global_records + self._local_records

    def _member(self) -> Value | None:
        records = self._record_list()
        if not records:
            return None
        name, number = self._random.choice(records)
        member, type_, length = self._random.choice(self._records[number][1])
        if length is not None:
            return Value(f"{name}.{member}[{self._index(length)}]", type_)
        return Value(f"{name}.{member}", type_)

    def _pure_call(self) -> Value:
        name, result, parameters = self._random.choice(self._pure)
        self._calls = False
        arguments = self._arguments(name, parameters)
        self._calls = True
        return Value(f"{name}({arguments})", result)

    def _arguments(self, name: str, parameters: list[Int]) -> str:
        """Arguments of a call; those of an old-style function must have the parameters' types (C11 6.5.2.2p6)."""
        values = [self._expression(1).text for _ in parameters]
        if name in self._old_style:
            values = [f"({type_.name})({value})" for type_, value in zip(parameters, values, strict=True)]
        return ", ".join(values)

    def _expression(self, depth: int) -> Value:
        """An integer expression."""
        if depth <= 0 or self._chance(0.15):
            return self._leaf()
        kind = self._random.randrange(22)
        if kind < 8:
            return self._arithmetic(depth)
        if kind < 11:
            return self._bitwise(depth)
        if kind < 13:
            return self._shift(depth)
        if kind < 14:
            return self._division(depth)
        if kind < 16:
            operator = self._random.choice(["<", "<=", ">", ">=", "==", "!="])
            return Value(f"({self._expression(depth - 1).text} {operator} {self._expression(depth - 1).text})", INT)
        if kind < 18:
            return self._cast(depth)
        if kind < 19:
            return self._unary(depth)
        if kind < 20:
            operator = self._random.choice(["&&", "||"])
            return Value(f"({self._truth(depth - 1)} {operator} {self._truth(depth - 1)})", INT)
        if kind < 21:
            one, other = self._expression(depth - 1), self._expression(depth - 1)
            return Value(f"({self._truth(depth - 1)} ? {one.text} : {other.text})", common(one.type, other.type))
        scalars = self._readable()
        last = self._expression(depth - 1)
        return Value(f"({self._random.choice(scalars).text}, {last.text})", last.type) if scalars else last

    def _arithmetic(self, depth: int) -> Value:
        one, other = self._expression(depth - 1), self._expression(depth - 1)
        type_ = common(one.type, other.type)
        operator = self._random.choice("++--*")
        if type_.signed and not (self._risky() and _varies(one.text + other.text)):
            if self._chance(0.3) and operator != "*":
                return Value(f"({one.text} % 1000 {operator} {other.text} % 1000)", type_)
            wide = unsigned_of(type_).name
            return Value(f"({type_.name})(({wide})({one.text}) {operator} ({wide})({other.text}))", type_)
        return Value(f"({one.text} {operator} {other.text})", type_)

    def _bitwise(self, depth: int) -> Value:
        one, other = self._expression(depth - 1), self._expression(depth - 1)
        return Value(f"({one.text} {self._random.choice('&|^')} {other.text})", common(one.type, other.type))

    def _shift(self, depth: int) -> Value:
        one, other = self._expression(depth - 1), self._expression(depth - 1)
        type_ = promote(one.type)
        if self._chance(0.5):
            amount = other.text if self._risky() else f"({other.text} & {type_.bits - 1})"
            return Value(f"({one.text} >> {amount})", type_)
        if self._risky():
            return Value(f"({one.text} << ({other.text} & {type_.bits}))", type_)
        wide = unsigned_of(type_)
        return Value(f"(({wide.name})({one.text}) << ({other.text} & {type_.bits - 1}))", wide)

    def _division(self, depth: int) -> Value:
        one, other = self._expression(depth - 1), self._expression(depth - 1)
        divisor = other.text if self._risky() else f"({other.text} | 1)"
        return Value(f"({one.text} {self._random.choice('/%')} {divisor})", common(one.type, other.type))

    def _cast(self, depth: int) -> Value:
        type_ = self._random.choice(TYPES)
        return Value(f"({type_.name})({self._expression(depth - 1).text})", type_)

    def _truth(self, depth: int) -> str:
        """An expression of which only matters whether it is zero."""
        return self._as_truth(self._expression(depth).text)

    def _as_truth(self, text: str) -> str:
        return text

    def _unary(self, depth: int) -> Value:
        operand = self._expression(depth - 1)
        operator = self._random.choice("-~!+")
        type_ = promote(operand.type)
        if operator == "!":
            return Value(f"!({self._as_truth(operand.text)})", INT)
        if operator == "-" and type_.signed and not (self._risky() and _varies(operand.text)):
            return Value(f"({type_.name})(-({unsigned_of(type_).name})({operand.text}))", type_)
        return Value(f"{operator}({operand.text})", type_)

    def _full(self, depth: int = 3, beside: str = "") -> Value:
        """An expression of its own: at most one variable is changed in it, and read nowhere else in it or `beside` it."""
        others = set(_VARIABLE.findall(beside))
        changeable = [v for v in self._local_scalars if (v.type.bits < 32 or not v.type.signed) and v.text not in others]
        if changeable and self._chance(0.15):
            chosen = self._random.choice(changeable).text
            self._banned.add(chosen)
            self._once = chosen
        found = self._expression(depth)
        self._once = None
        self._banned.clear()
        return found
