"""Statements: assignments and control flow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial

from benchmarks.random_c.declarations import Declarations
from benchmarks.random_c.scalar_types import INT, UNSIGNED, Names, Value, promote


class Statements(Declarations):
    """Statements."""

    def _target(self) -> Value:
        """An lvalue to assign."""
        kind = self._random.randrange(4)
        if kind == 0 and self._names.arrays:
            return self._element(target=True)
        if kind == 1:
            member = self._member()
            if member is not None:
                return member
        assignable = [v for v in self._names.scalars if not v.text.startswith("i")]
        return self._random.choice(assignable) if assignable else self._constant()

    def _statement(self, depth: int) -> None:
        choices: list[Callable[[], None]] = [self._assignment] * 5
        choices += [self._compound_assignment] * 3 + [self._step, self._struct_statement]
        if depth > 0:
            for nested in (self._if, self._for, self._while, self._switch, self._goto, self._block, self._two_counters):
                choices.append(partial(self._nested, nested, depth - 1))
            if not self._silent:
                choices += self._object_statements()
        self._random.choice(choices)()

    @abstractmethod
    def _object_statements(self) -> list[Callable[[], None]]:
        """The statements that print what they do."""

    def _nested(self, write: Callable[[int], None], depth: int) -> None:
        """A statement with statements in it: what is declared there is gone afterwards."""
        names = Names(list(self._names.scalars), list(self._names.arrays))
        scalars, records = list(self._local_scalars), list(self._local_records)
        write(depth)
        self._names, self._local_scalars, self._local_records = names, scalars, records

    def _assignment(self) -> None:
        target = self._target()
        if target.text[0].isdigit() or target.text[0] in "('-":
            return
        if self._impure and self._calls and self._names.arrays and self._chance(0.1):
            name, _, parameters = self._random.choice(self._impure)
            arguments = self._arguments(name, parameters)
            fresh = self._name("c")
            self._line(f"long {fresh} = {name}({arguments});")
            self._line(f"{target.text} = {fresh};")
            return
        self._line(f"{target.text} = {self._full(beside=target.text).text};")

    def _compound_assignment(self) -> None:
        target = self._target()
        if target.text[0].isdigit() or target.text[0] in "('-":
            return
        operator = self._random.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"])
        value = self._expression(2).text
        wide = promote(target.type)
        if operator in ("<<", ">>") and not self._risky():
            value = f"({value} & {wide.bits - 1})" if operator == ">>" or not wide.signed else "0"
        elif operator in ("/", "%") and not self._risky():
            value = f"({value} | 1)"
        elif operator in ("+", "-", "*") and wide.signed and not self._risky():
            operator = self._random.choice(["&", "|", "^"])
        self._line(f"{target.text} {operator}= {value};")

    def _step(self) -> None:
        usable = [v for v in self._local_scalars if v.type.bits < 32 or not v.type.signed or self._risky()]
        if usable:
            name = self._random.choice(usable).text
            self._line(self._random.choice([f"{name}++;", f"--{name};", f"++{name};", f"{name}--;"]))

    def _struct_statement(self) -> None:
        records = self._local_records + self._global_records
        if not records:
            return
        name, number = self._random.choice(records)
        same = [other for other, kind in records if kind == number and other != name]
        functions = [function for function, kind in self._struct_functions if kind == number]
        if same and functions and self._chance(0.5):
            self._line(f"{name} = {functions[0]}({same[0]}, &{same[0]});")
        elif same:
            self._line(f"{name} = {same[0]};")
        else:
            self._line(f"{name} = ({self._records[number][0]}){self._initialiser(self._records[number][1], constant=False)};")

    def _condition(self) -> str:
        return self._as_truth(self._full(2).text)

    def _body(self, depth: int) -> None:
        for _ in range(self._random.randrange(1, 3)):
            if self._chance(0.2):
                self._declare_scalar()
            else:
                self._statement(depth)

    def _if(self, depth: int) -> None:
        self._open(f"if ({self._condition()})")
        self._nested(self._body, depth)
        if self._chance(0.5):
            self._close("} else {")
            self._indent += 1
            self._nested(self._body, depth)
        self._close()

    def _for(self, depth: int) -> None:
        if self._loops > 1:
            return
        self._loops += 1
        i = self._name("i")
        self._open(f"for (int {i} = 0; {i} < {self._random.randrange(1, 7)}; {i}++)")
        self._names.scalars.append(Value(i, INT))
        self._nested(self._body, depth)
        if self._chance(0.3):
            self._line(f"if ({self._condition()}) {self._random.choice(['break', 'continue'])};")
            self._nested(self._body, depth)
        self._close()
        self._loops -= 1

    def _while(self, depth: int) -> None:
        if self._loops > 1:
            return
        self._loops += 1
        i = self._name("i")
        self._line(f"unsigned {i} = {self._random.randrange(1, 6)};")
        kind = self._random.randrange(3)
        self._open([f"while ({i}--)", f"while ({i} > 0)", "do"][kind])
        self._names.scalars.append(Value(i, UNSIGNED))
        self._nested(self._body, depth)
        if kind == 1:
            self._line(f"{i} -= 1;")
        self._close("}" if kind != 2 else f"}} while (--{i});")
        self._loops -= 1

    def _switch(self, depth: int) -> None:
        self._open(f"switch ({self._full(2).text})")
        used: set[int] = set()
        default = self._random.randrange(4)
        for number in range(self._random.randrange(1, 5)):
            if number == default:
                self._line("default:")
            value = self._random.randrange(-3, 12)
            if value in used:
                continue
            if self._chance(0.1) and not used & set(range(value, value + 4)):
                used |= set(range(value, value + 4))
                self._line(f"case {value} ... {value + 3}:")
            else:
                used.add(value)
                self._line(f"case {value}:")
            self._assignment()
            self._open("")
            self._nested(self._body, depth)
            self._close()
            if self._chance(0.6):
                self._line("break;")
        self._line(";")
        self._close()

    def _goto(self, depth: int) -> None:
        label, counter = self._name("label"), self._name("n")
        if self._chance(0.5):
            self._line(f"int {counter} = 0;")
            self._line(f"{label}:")
            self._open("")
            self._nested(self._body, 0)
            self._close()
            self._line(f"if (++{counter} < {self._random.randrange(1, 4)}) goto {label};")
        else:
            self._line(f"if ({self._condition()}) goto {label};")
            self._open("")
            self._nested(self._body, depth)
            self._close()
            self._line(f"{label}: ;")

    def _block(self, depth: int) -> None:
        self._open("")
        if self._local_scalars:
            shadowed = self._random.choice(self._local_scalars)
            if not shadowed.text.startswith("i"):  # a name that hides another
                fresh = self._name("h")
                self._line(f"{shadowed.type.name} {fresh} = {shadowed.text};")
                self._line(f"{shadowed.type.name} {shadowed.text} = {fresh} ^ 1;")
        self._nested(self._body, depth)
        self._close()

    def _two_counters(self, depth: int) -> None:
        """A loop with the comma operator, an assignment as a condition, and `continue` in `do`."""
        if self._loops > 1:
            return
        self._loops += 1
        one, other = self._name("i"), self._name("i")
        self._open(f"for (int {one} = 0, {other} = {self._random.randrange(2, 9)}; {one} < {other}; {one}++, {other}--)")
        self._names.scalars.extend((Value(one, INT), Value(other, INT)))
        self._nested(self._body, depth)
        del self._names.scalars[-2:]
        self._close()
        assignable = [v for v in self._local_scalars if not v.text.startswith("i")]
        if len(assignable) > 1:
            target, again = (value.text for value in self._random.sample(assignable, 2))
            self._line(f"if (({target} = {self._expression(2).text}) > 3) {again} = {target} = {self._expression(1).text};")
            count = self._name("i")
            self._line(f"int {count} = 3;")
            self._open("do")
            self._line(f"if ({self._condition()}) continue;")
            self._line(f"{target} = {self._expression(2).text};")
            self._close(f"}} while (--{count} > 0);")
        self._loops -= 1
