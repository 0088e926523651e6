"""Statements about text, lists, arrays of records, enumerations, floating members, arrays of variable length, and static data."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.random_c.object_statements import ObjectStatements
from benchmarks.random_c.scalar_types import TYPES


class MoreStatements(ObjectStatements):
    """More statements."""

    def _object_statements(self) -> list[Callable[[], None]]:
        return [
            *super()._object_statements(),
            self._text_statement,
            self._list_statement,
            self._records_statement,
            self._enum_statement,
            self._floating_statement,
            self._variable_length_statement,
            self._static_statement,
            self._flexible_statement,
        ]

    def _text_statement(self) -> None:
        s, h, r = self._name("s"), self._name("hash"), self._random
        text = r.choice(["hello", "a\\tb\\n", "", "x\\0y", "\\x41\\102c", 'two" "parts'])
        self._open("")
        self._line(f'char {s}[{r.randrange(10, 14)}] = "{text}";')
        self._line(f'const char *{s}p = "{text}";')
        self._line(f"{s}[{r.randrange(9)}] = {self._expression(1).text};")
        self._line(f"{s}[9] = 0;")
        self._line(f"unsigned {h} = strlen({s}) + sizeof \"{text}\" + (strcmp({s}, {s}p) < 0) + (strchr({s}p, 'l') != 0);")
        self._line(f"while (*{s}p) {h} = {h} * 31 + *{s}p++;")
        self._line(f'out("{h}", {h});')
        one, other = self._expression(1).text, self._expression(1).text
        self._line(f'{h} = snprintf({s}, sizeof {s}, "%d:%-4x|%05ld", {one} & 255, 77u, (long)({other}));')
        self._line(f'printf("%s %u\\n", {s}, {h});')
        self._close()

    def _list_statement(self) -> None:
        """A list on the heap: built, summed, reversed, freed."""
        n, r = self._name("node"), self._random
        self._open("")
        self._line(f"struct {n} {{ {r.choice(TYPES).name} v; struct {n} *next; }} *{n} = 0, *{n}r = 0;")
        count = self._name("i")
        self._open(f"for (int {count} = 0; {count} < {r.randrange(1, 6)}; {count}++)")
        self._line(f"struct {n} *fresh = malloc(sizeof *fresh);")
        self._line(f"*fresh = (struct {n}){{{self._expression(1).text}, {n}}};")
        self._line(f"{n} = fresh;")
        self._close()
        self._open(f"while ({n})")
        self._line(f"struct {n} *next = {n}->next;")
        self._line(f"{n}->next = {n}r, {n}r = {n};")
        self._line(f"{n} = next;")
        self._close()
        self._line(f"long long {n}s = 0;")
        last = "->next" if self._risky() else ""
        self._line(f"for (struct {n} *p = {n}r; p; p = p->next{last}) {n}s = {n}s * 3 % 10007 + p->v % 100;")
        self._line(f'out("{n}", {n}s);')
        freed = "free(p);" if self._risky() else f"struct {n} *next = p->next; free(p); p = next;"
        step = "p = p->next" if freed == "free(p);" else ""
        self._line(f"for (struct {n} *p = {n}r; p; {step}) {{ {freed} }}")
        self._close()

    def _records_statement(self) -> None:
        """An array of records, walked by a pointer."""
        a, r = self._name("recs"), self._random
        number = r.randrange(len(self._records))
        record, members = self._records[number]
        length = r.randrange(2, 5)
        member, _, elements = r.choice(members)
        part = member + (f"[{r.randrange(elements)}]" if elements else "")
        self._open("")
        self._line(f"{record} {a}[{length}] = {{{self._initialiser(members, constant=False)}, [1] = {{0}}}};")
        value = f"(p - {a}) * {r.randrange(2, 9)} + {self._expression(1).text}"
        self._line(f"for ({record} *p = {a} + {length} - 1; p >= {a}; p--) p->{part} = {value};")
        self._line(f"{a}[0] = {a}[{r.randrange(length)}];")
        self._line(f"memcpy(&{a}[1], {a}, sizeof({record}));")
        self._line(f"{record} *{a}p = &{a}[{self._index(length)}];")
        self._line(f'out("{a}", {a}p->{part} + ({a}p - {a}) + sizeof {a} / sizeof *{a} + sizeof({record}));')
        self._close()

    def _enum_statement(self) -> None:
        e, r = self._name("e"), self._random
        low = r.choice(["", " = -2", " = 3"])
        self._open("")
        self._line(f"enum {e} {{ {e}a{low}, {e}b, {e}c = 7, {e}d }} {e} = {e}{r.choice('abcd')};")
        self._line(f"enum {e} {e}other = ({self._expression(1).text} & 1) ? {e}b : {e}c;")
        self._line(f"const int {e}sum = {e} + {e}other * 2 - ({e} < {e}other);")
        self._line(
            f'switch ({e}other) {{ case {e}b: out("{e}", 1); break; case {e}a: case {e}c: out("{e}", {e}sum); default: ; }}'
        )
        self._close()

    def _floating_statement(self) -> None:
        """Conversions between integers and floating types, of members and by calls."""
        f, r = self._name("f"), self._random
        self._open("")
        one, other = self._expression(1).text, self._expression(1).text
        self._line(f"struct {{ float f; double d; char c; float a[2]; }} {f} = {{{one}, .d = {other}}};")
        self._line(f"{f}.a[1] = {f}.f / 3 + (float)({self._full(2).text});")
        self._line(f"{f}.d -= {f}.a[1] * {r.choice(['2', '0.5f', '1e5', '3.25'])};")
        self._line(f"float {f}x = {self._full(1).text}, {f}y = {f}.a[0] - {f}x;")
        self._line(f"{f}x = {f}x > {f}y ? {f}x : {f}y;")
        self._line(f'printf("%.9g %.17g %.9g %d\\n", {f}.a[1], {f}.d, {f}x, !{f}y);')
        self._line(f'if ({f}.d > -1e9 && {f}.d < 1e9) out("{f}", (int){f}.d + ({f}.f != 0));')
        self._line(f"_Bool {f}b = {f}x;")
        self._line(f'out("{f}b", {f}b + ({f}.f && {f}b));')
        self._close()

    def _variable_length_statement(self) -> None:
        v, i, r = self._name("vla"), self._name("i"), self._random
        self._open("")
        self._line(f"int {v}n = ({self._expression(1).text} & 7) + 1;")
        self._line(f"{r.choice(TYPES).name} {v}[{v}n];")
        self._line(f"for (int {i} = 0; {i} < {v}n; {i}++) {v}[{i}] = {i} * 7;")
        self._line(f"{v}[{v}n / 2] ^= {self._expression(1).text};")
        self._line(f'out("{v}", {v}[{v}n - 1] + {v}[0] + {v}[{v}n / 2]);')
        self._close()

    def _static_statement(self) -> None:
        """Static data that points to static data."""
        s, r = self._name("st"), self._random
        numbers = ", ".join(str(r.randrange(-9, 99)) for _ in range(r.randrange(2, 7)))
        self._open("")
        self._line(f"static short {s}[] = {{{numbers}}};")
        self._line(f"static short *{s}p = &{s}[1], *{s}q = {s} + 1;")
        type_ = "struct { const char *name; short *at; struct { int x, y; } p[2]; }"
        values = f'{{"ab", {s}, {{{{1, 2}}, 3}}}}, {{"cde", {s} + 1, .p[1].y = 4}}'
        self._line(f"static const {type_} {s}t[] = {{{values}}};")
        self._line(f"static unsigned {s}k = sizeof {s} / sizeof *{s};")
        self._line(f"*{s}p += {r.randrange(9)};")
        self._line(f"{s}k += {s}q == {s}p;")
        k = f"({self._expression(1).text} & 1)"
        parts = f"{s}t[{k}].name[1] + *{s}t[1].at + {s}t[0].p[1].x + {s}t[{k}].p[1].y + strlen({s}t[1].name)"
        self._line(f'out("{s}", *{s}q + {s}k + {parts});')
        self._close()

    def _flexible_statement(self) -> None:
        f, r = self._name("flex"), self._random
        length = r.randrange(1, 6)
        self._open("")
        self._line(f"struct {f} {{ unsigned n; {r.choice(TYPES).name} d[]; }};")
        self._line(f"struct {f} *{f} = malloc(sizeof *{f} + {length} * sizeof {f}->d[0]);")
        self._line(f"{f}->n = {length};")
        self._line(f"for (unsigned i = 0; i < {f}->n; i++) {f}->d[i] = i ?: {self._expression(1).text};")
        self._line(f"__typeof__({f}->d[0]) {f}last = {f}->d[{f}->n - 1];")
        self._line(f'out("{f}", {f}last + sizeof *{f});')
        self._line(f"free({f});")
        self._close()
