"""Statements about pointers, bytes, text, floating point and the heap; each is a block of its own that prints what it did."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.random_c.scalar_types import TYPES
from benchmarks.random_c.statements import Statements


class ObjectStatements(Statements):
    """Statements about objects."""

    def _object_statements(self) -> list[Callable[[], None]]:
        return [
            self._pointer_statement,
            self._union_statement,
            self._bytes_statement,
            self._double_statement,
            self._matrix_statement,
            self._heap_statement,
            self._literal_statement,
        ]

    def _pointer_statement(self) -> None:
        r = self._random
        p = self._name("ptr")
        self._open("")
        if self._names.arrays and self._chance(0.6):
            name, type_, length = r.choice(self._names.arrays)
            if self._chance(0.5):
                self._line(f"{type_.name} *{p} = {name};")
                value = self._expression(1).text
                self._line(f"while ({p} < {name} + {length}) *{p}++ ^= {value};")
                self._line(f'out("{p}", {p} - {name});')
            else:
                self._line(f"{type_.name} *{p} = &{name}[{self._index(length)}];")
                self._line(f"*{p} = {self._expression(2).text};")
                self._line(f'out("{p}", *{p} + ({p} - {name}) + ({p} == {name}));')
        elif len(self._local_scalars) > 1:
            one = r.choice(self._local_scalars)
            other = r.choice([v for v in self._local_scalars if v.type == one.type])
            kind = one.type.name
            self._line(f"{kind} *{p} = {self._truth(1)} ? &{one.text} : &{other.text};")
            if self._risky():
                self._line(f"if ({self._condition()}) {p} = 0;")
            self._line(f"{kind} **{p}p = &{p};")
            self._line(f"**{p}p = {self._expression(2).text};")
            self._line(f"*{p} {r.choice(['|', '&', '^'])}= 5;")
            self._line(f'out("{p}", *{p} + ({p} != 0));')
        self._close()

    def _union_statement(self) -> None:
        u, r = self._name("u"), self._random
        self._open("")
        members = "unsigned long l; int i[2]; unsigned char c[8]; struct { short a, b; unsigned x : 5, y : 11; } s; double d;"
        self._line(f"union {{ {members} }} {u};")
        self._line(f"{u}.l = {self._full(2).text};")
        self._line(f"{u}.{r.choice(['i[1]', 'c[3]', 's.b', 's.x', 's.y'])} = {self._expression(2).text};")
        self._line(f'out("{u}", {u}.i[0] ^ {u}.s.a ^ {u}.c[{r.randrange(8)}] ^ {u}.s.x ^ {u}.s.y ^ (long long){u}.l);')
        if self._names.scalars and self._local_scalars:
            self._line(f"{r.choice(self._local_scalars).text} = {u}.c[{r.randrange(8)}];")
        self._close()

    def _bytes_statement(self) -> None:
        if not self._names.arrays:
            return
        name, type_, length = self._random.choice(self._names.arrays)
        if type_.name == "_Bool":
            return
        size = f"{length} * sizeof({type_.name})"
        copy, sum_, i = self._name("b"), self._name("sum"), self._name("i")
        self._open("")
        self._line(f"unsigned char {copy}[{length * type_.bits // 8 + 3}];")
        self._line(f"memset({copy}, {self._expression(1).text}, sizeof {copy});")
        self._line(f"memcpy({copy} + {self._random.randrange(4)}, {name}, {size});")
        self._line(f"unsigned {sum_} = 0;")
        self._line(f"for (unsigned {i} = 0; {i} < sizeof {copy}; {i}++) {sum_} = {sum_} * 31 + {copy}[{i}];")
        if self._chance(0.5):
            self._line(f"memmove({name}, {copy}, {size});")
        self._line(f'out("{sum_}", {sum_} + memcmp({copy}, {copy}, sizeof {copy}));')
        self._close()

    def _double_statement(self) -> None:
        d, r = self._name("d"), self._random
        kind = r.choice(["double", "float"])
        self._open("")
        self._line(f"{kind} {d} = {self._full(2).text};")
        self._line(f"{kind} {d}e = {r.choice(['1.5', '0.1', '3e10', '.25f', '1e-3', '7'])};")
        self._line(f"{d} = {d} {r.choice('+-*/')} {d}e {r.choice('+-*')} {self._expression(1).text};")
        self._line(f"{d} += {d}e;")
        self._line(f'printf("%.9g %d\\n", {d}, {d} < {d}e);')
        if self._local_scalars:
            target = r.choice(self._local_scalars)
            low = 0 if not target.type.signed else -100
            self._line(f"if ({d} > {low} && {d} < 100) {target.text} = {d};")
        self._close()

    def _matrix_statement(self) -> None:
        m, i, j = self._name("mat"), self._name("i"), self._name("i")
        rows, columns = self._random.randrange(1, 4), self._random.randrange(1, 4)
        type_ = self._random.choice(TYPES)
        self._open("")
        self._line(f"{type_.name} {m}[{rows}][{columns}] = {{{{{self._expression(1).text}}}}};")
        self._line(f"long {m}s = 0;")
        value = self._expression(1).text
        self._line(
            f"for (int {i} = 0; {i} < {rows}; {i}++) for (int {j} = 0; {j} < {columns}; {j}++) {m}[{i}][{j}] += ({value}) & 63;"
        )
        self._line(
            f"for (int {i} = 0; {i} < {rows} * {columns}; {i}++) {m}s = {m}s * 3 + {m}[{i} / {columns}][{i} % {columns}] % 99;"
        )
        self._line(f'out("{m}", {m}s);')
        self._close()

    def _heap_statement(self) -> None:
        p, i, r = self._name("h"), self._name("i"), self._random
        length = r.randrange(1, 6)
        type_ = r.choice(TYPES)
        self._open("")
        if self._chance(0.5):
            self._line(f"{type_.name} *{p} = calloc({length}, sizeof *{p});")
        else:
            self._line(f"{type_.name} *{p} = malloc({length} * sizeof({type_.name}));")
            self._line(f"for (int {i} = 0; {i} < {length}; {i}++) {p}[{i}] = {i} * 5;")
        index = f"{length}" if self._risky() else str(r.randrange(length))
        self._line(f"{p}[{index}] = {self._full(2).text};")
        if self._chance(0.3):
            self._line(f"{p} = realloc({p}, {length + 2} * sizeof *{p});")
            self._line(f"{p}[{length}] = {p}[{length - 1}];")
        self._line(f'out("{p}", {p}[{r.randrange(length)}]);')
        if not self._risky():
            self._line(f"free({p});")
            if self._risky():
                self._line(r.choice([f"free({p});", f'out("{p}", *{p});', f"*{p} = 1;"]))
        elif self._chance(0.5):
            self._line(f"free({p} + 1);")
        self._close()

    def _literal_statement(self) -> None:
        r, p = self._random, self._name("lit")
        self._open("")
        kind = r.randrange(3)
        if kind == 0:
            self._line(f"int *{p} = (int[]){{{self._expression(1).text}, {self._expression(1).text}, 3}};")
            self._line(f"{p}[1] ^= {p}[0];")
            self._line(f'out("{p}", {p}[1] + (long){p}[2]);')
        elif kind == 1:
            number = r.randrange(len(self._records))
            record, members = self._records[number]
            self._line(f"{record} *{p} = &({record}){self._initialiser(members, constant=False)};")
            member, _, length = r.choice(members)
            self._line(f'out("{p}", {p}->{member}{"[0]" if length else ""});')
        elif self._pure:
            name, result, parameters = r.choice(self._pure)
            types = ", ".join(t.name for t in parameters)
            self._line(f"{result.name} (*{p}[2])({types}) = {{{name}, {name}}};")
            arguments = self._arguments(name, parameters)
            self._line(
                f'out("{p}", {p}[{r.randrange(2)}]({arguments}) + (long)({{ int t = {self._expression(1).text} & 7; t + 1; }}));'
            )
        self._close()
