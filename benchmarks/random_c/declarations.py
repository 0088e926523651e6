"""Records, globals, functions and local variables."""

from __future__ import annotations

from abc import abstractmethod

from benchmarks.random_c.expressions import Expressions
from benchmarks.random_c.scalar_types import INT, TYPES, UNSIGNED, Int, Member, Names, Value


class Declarations(Expressions):
    """Declarations."""

    @abstractmethod
    def _statement(self, depth: int) -> None:
        """Writes a statement, with others nested in it to this depth."""

    def _write_record(self) -> None:
        r, number = self._random, len(self._records)
        members: list[Member] = []
        self._open(f"struct {self._prefix}s{number}")
        for _ in range(r.randrange(2, 6)):
            name, kind = self._name("m"), r.randrange(6)
            if kind < 3:
                type_ = r.choice(TYPES)
                self._line(f"{type_.name} {name};")
                members.append((name, type_, None))
            elif kind < 5:
                bits, base = r.randrange(1, 32), r.choice([INT, UNSIGNED])
                self._line(f"{'signed' if base.signed else 'unsigned'} {name} : {bits};")
                # what a bit-field promotes to: an int holds what has fewer bits than it
                members.append((name, INT, None))
                if self._chance(0.15):
                    self._line(f"{base.name} : {r.choice([0, 3, 9])};")
            else:
                type_, length = r.choice(TYPES), r.randrange(1, 5)
                self._line(f"{type_.name} {name}[{length}];")
                members.append((name, type_, length))
        if self._chance(0.3):
            one, other = self._name("m"), self._name("m")
            self._line(f"union {{ unsigned {one}; unsigned char {other}[4]; }};")
            members += [(one, UNSIGNED, None), (other, Int("unsigned char", 8, False), 4)]
            self._overlapping |= {one: other, other: one}
        self._close("};")
        self._records.append((f"struct {self._prefix}s{number}", members))

    def _initialiser(self, members: list[Member], constant: bool) -> str:
        """A braced list for a record, by designators. Of a union one member is initialised: whether a value that another one
        overrides is evaluated at all is left open (C11 6.7.9p19, note 151)."""
        parts = []
        chosen = self._random.sample(members, self._random.randrange(0, len(members) + 1))
        names = [name for name, _, _ in chosen]
        for at, (name, _, length) in enumerate(chosen):
            if self._overlapping.get(name) in names[:at]:
                continue
            value = self._constant().text if constant or self._chance(0.4) else self._expression(1).text
            parts.append(f".{name} = {{{value}}}" if length is not None else f".{name} = {value}")
        return "{" + ", ".join(parts) + "}" if parts else "{0}"

    def _write_global(self) -> None:
        r, kind = self._random, self._random.randrange(4)
        static = "static " if self._chance(0.4) else ""
        if kind == 0:
            type_, name = r.choice(TYPES), self._global_name("g")
            initial = f" = {self._constant().text}" if self._chance(0.6) else ""
            self._line(f"{static}{type_.name} {name}{initial};")
            self._globals.scalars.append(Value(name, type_))
        elif kind == 1:
            type_, name, length = r.choice(TYPES), self._global_name("g"), r.randrange(1, 9)
            values = ", ".join(self._constant().text for _ in range(r.randrange(0, length + 1)))
            initial = f" = {{{values}}}" if values else ""
            self._line(f"{static}{type_.name} {name}[{length}]{initial};")
            self._globals.arrays.append((name, type_, length))
        else:
            number, name = r.randrange(len(self._records)), self._global_name("g")
            initial = f" = {self._initialiser(self._records[number][1], constant=True)}" if self._chance(0.7) else ""
            self._line(f"{static}{self._records[number][0]} {name}{initial};")
            self._global_records.append((name, number))

    def _parameters(self) -> list[Value]:
        return [Value(self._name("p"), self._random.choice(TYPES)) for _ in range(self._random.randrange(1, 4))]

    def _enter_function(self, parameters: list[Value], *, with_globals: bool) -> None:
        self._names = Names(list(parameters), [])
        self._local_scalars = list(parameters)
        self._local_records = []
        self._hidden = self._global_records
        if with_globals:
            self._names.scalars.extend(self._globals.scalars)
            self._names.arrays.extend(self._globals.arrays)
        else:
            self._global_records = []

    def _leave_function(self) -> None:
        self._global_records = self._hidden
        self._local_records = []
        self._local_scalars = []
        self._names = Names([], [])

    def _write_pure(self, recursive: bool) -> None:
        result, parameters = self._random.choice(TYPES), self._parameters()
        name = self._global_name("pure")
        spelled = ", ".join(f"{v.type.name} {v.text}" for v in parameters)
        self._enter_function(parameters, with_globals=False)
        if not recursive and self._chance(0.2):
            self._old_style.add(name)
            self._line(f"{result.name} {name}({', '.join(v.text for v in parameters)})")
            for value in parameters:
                self._line(f"    {value.type.name} {value.text};")
            self._open("")
        else:
            self._open(f"static {result.name} {name}({spelled})")
        self._silent = True
        if recursive:
            first, rest = parameters[0], parameters[1:]
            self._open(f"if ({first.text} > 0 && {first.text} < 20)")
            arguments = ", ".join([f"{first.text} - 1", *(self._expression(1).text for _ in rest)])
            self._line(f"return {name}({arguments}) ^ {self._expression(1).text};")
            self._close()
        for _ in range(self._random.randrange(0, 3)):
            self._declare_scalar()
        for _ in range(self._random.randrange(0, 3)):
            self._statement(1)
        self._line(f"return {self._full().text};")
        self._close()
        self._leave_function()
        self._silent = False
        self._pure.append((name, result, [v.type for v in parameters]))

    def _write_impure(self) -> None:
        result, parameters = self._random.choice(TYPES), self._parameters()
        name = self._global_name("impure")
        self._enter_function(parameters, with_globals=True)
        self._open(f"static {result.name} {name}({', '.join(f'{v.type.name} {v.text}' for v in parameters)})")
        counter = self._name("k")
        self._line(f"static unsigned {counter} = {self._random.randrange(5)};")
        self._line(f"{counter} += 3;")
        self._names.scalars.append(Value(counter, UNSIGNED))
        for _ in range(self._random.randrange(1, 3)):
            self._declare_scalar()
        for _ in range(self._random.randrange(1, 5)):
            self._statement(2)
        self._line(f"return {self._full().text};")
        self._close()
        self._leave_function()
        self._impure.append((name, result, [v.type for v in parameters]))

    def _write_struct_function(self) -> None:
        number = self._random.randrange(len(self._records))
        record, members = self._records[number]
        name, parameter = self._global_name("swap"), self._name("q")
        self._enter_function([], with_globals=False)
        self._local_records = [(parameter, number)]
        self._open(f"static {record} {name}({record} {parameter}, {record} *other)")
        for member, _, length in members:
            if length is None and self._chance(0.7):
                self._line(f"{parameter}.{member} = {self._full(2).text};")
                self._line(f"other->{member} {self._random.choice(['=', '^=', '|='])} {parameter}.{member};")
        self._line(f"return {parameter};")
        self._close()
        self._leave_function()
        self._struct_functions.append((name, number))

    def _declare_scalar(self) -> None:
        type_, name = self._random.choice(TYPES), self._name("v")
        self._line(f"{type_.name} {name} = {self._full().text};")
        value = Value(name, type_)
        self._names.scalars.append(value)
        self._local_scalars.append(value)

    def _declare_array(self) -> None:
        type_, name, length = self._random.choice(TYPES), self._name("a"), self._random.randrange(2, 9)
        values = ", ".join(self._expression(1).text for _ in range(self._random.randrange(1, length + 1)))
        self._line(f"{type_.name} {name}[{length}] = {{{values}}};")
        self._names.arrays.append((name, type_, length))

    def _declare_record(self) -> None:
        number, name = self._random.randrange(len(self._records)), self._name("r")
        record, members = self._records[number]
        if self._global_records and self._chance(0.3):
            same = [other for other, kind in self._global_records if kind == number]
            if same:
                self._line(f"{record} {name} = {same[0]};")
                self._local_records.append((name, number))
                return
        self._line(f"{record} {name} = {self._initialiser(members, constant=False)};")
        self._local_records.append((name, number))
