"""Random programs of several translation units: what they are about is linkage (C11 6.2.2) and initialisation (C11 6.7.9).

Every object and function of a program has a home, one unit that defines it; the others declare it, in the file or in a block.
Objects and functions with internal linkage have the same names in several units, and other values. Local variables hide objects.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from benchmarks.random_c.initialisers import (
    Array,
    Initialisers,
    Record,
    Type,
    declared,
    definition,
    leaves,
    random_record,
)
from benchmarks.random_c.scalar_types import TYPES, Int


class Object(NamedTuple):
    """An object with external linkage."""

    name: str
    type: Type
    home: int


class RandomUnits:
    """Writes one program. `texts` are its units. `entry` is the function in the first unit that runs the program
    and prints everything."""

    def __init__(self, seed: int, prefix: str, units: int = 3) -> None:
        self._random, self._prefix, self._units = Random(seed), prefix, units
        self._lines: list[list[str]] = [[] for _ in range(units)]
        self._records: list[Record] = []
        self._objects: list[Object] = []
        self._external: list[str] = []
        self.entry = f"{prefix}main"
        self._write()
        self.texts = tuple("\n".join(lines) + "\n" for lines in self._lines)

    def _say(self, unit: int, *lines: str) -> None:
        self._lines[unit] += lines

    def _write(self) -> None:
        r = self._random
        for number in range(r.randrange(1, 4)):
            record = random_record(r, f"{self._prefix}s{number}", f"m{number}", self._records)
            self._records.append(record)
            for unit in range(self._units):
                self._say(unit, f"struct {record.tag} {definition(record)};")
        for number in range(r.randrange(2, 6)):
            self._write_object(Object(f"{self._prefix}g{number}", self._type(), r.randrange(self._units)))
        for unit in range(self._units):
            if unit != 0 and r.random() < 0.3:
                continue
            self._write_static(unit)
        for number in range(r.randrange(2, 6)):
            self._write_function(number, r.randrange(self._units))
        self._write_main()

    def _type(self) -> Type:
        r = self._random
        match r.randrange(6):
            case 0:
                return r.choice(TYPES)
            case 1:
                return Array(r.choice(TYPES), r.randrange(1, 5))
            case 2:
                return Array(Array(r.choice(TYPES), r.randrange(1, 4)), r.randrange(1, 4))
            case 3:
                return Array(r.choice(self._records), r.randrange(1, 4))
        return r.choice(self._records)

    def _write_object(self, made: Object) -> None:
        """An object: defined in one unit, perhaps after tentative definitions there, declared in the others."""
        r, plain = self._random, declared(made.type, made.name)
        for unit in range(self._units):
            if unit != made.home:
                if r.random() < 0.5:
                    self._say(unit, f"extern {plain};")
                continue
            if r.random() < 0.3:
                self._say(unit, r.choice((f"extern {plain};", f"{plain};")))
            if r.random() < 0.8:
                constant = Initialisers(r).initialiser(made.type)
                if isinstance(made.type, Record) and r.random() < 0.1 and constant[0] == "{":
                    constant = f"(struct {made.type.tag}){constant}"  # gcc takes a literal of constants for its value
                self._say(unit, f"{plain} = {constant};")
            else:
                self._say(unit, f"{plain};")
            if r.random() < 0.2:
                self._say(unit, f"{plain};")
        self._objects.append(made)

    def _write_static(self, unit: int) -> None:
        """An object and functions of the unit's own, under names that other units use as well."""
        r, record = self._random, self._random.choice(self._records)
        name = f"{self._prefix}own"
        early = [f"static {declared(record, name)};"] if r.random() < 0.3 else []
        self._say(unit, *early, f"static {declared(record, name)} = {Initialisers(r).initialiser(record)};")
        words = r.choice(("static", "static inline"))
        body = f"static int calls = {r.randrange(5)}; calls += {r.randrange(1, 4)}; "
        self._say(unit, f"{words} int {self._prefix}count(int by) {{ {body}return calls * {r.randrange(2, 9)} + (by & 7); }}")
        self._say(unit, *self._printer(unit, f"{self._prefix}show_own{unit}", name, record))

    def _printer(self, unit: int, function: str, object_: str, type_: Type) -> list[str]:
        """A function, to be called from the entry, that prints an object."""
        self._external.append(f"{function}();")
        prints = [f'    out("{leaf}", {leaf});' for leaf in leaves(type_, object_)]
        count = f'    out("count", {self._prefix}count({unit}));'
        return [f"void {function}(void)", "{", *prints, count, "}"]

    def _seen(self, unit: int) -> list[Object]:
        text = "\n".join(self._lines[unit])
        return [one for one in self._objects if f" {one.name}" in text]

    def _write_function(self, number: int, unit: int) -> None:
        """A function that changes objects, and prints variables of its own."""
        r, name = self._random, f"{self._prefix}f{number}"
        word = ""
        if r.random() < 0.25:
            word = "inline "
            declarations = [f"extern void {name}(int p);", f"void {name}(int p);"]
            self._say(unit, r.choice(declarations))  # so that the definition is an external one (C11 6.7.4p7)
        self._say(unit, f"{word}void {name}(int p)", "{")
        scalars, objects, prints = ["p", "(p & 3)"], dict[str, list[str]](), list[str]()
        for one in r.sample(self._objects, r.randrange(min(3, len(self._objects)) + 1)):
            self._say(unit, f"    extern {declared(one.type, one.name)};")
            places = list(leaves(one.type, one.name))
            self._say(unit, *(f"    {place} ^= p;" for place in r.sample(places, min(2, len(places)))))
        for local in range(r.randrange(1, 4)):
            variable, type_ = f"v{local}", self._type()
            static = r.random() < 0.25
            given = Initialisers(r) if static else Initialisers(r, scalars, objects)
            self._say(unit, f"    {'static ' if static else ''}{declared(type_, variable)} = {given.initialiser(type_)};")
            places = list(leaves(type_, variable))
            prints += [f'    out("{name}.{place}", {place});' for place in places]
            if static:
                prints += [f"    {r.choice(places)} ^= 1;"]
            elif isinstance(type_, Int):
                scalars.append(variable)
            elif isinstance(type_, Record):
                objects.setdefault(type_.tag, []).append(variable)
        if r.random() < 0.5:
            record = r.choice(self._records)
            literal = f"(struct {record.tag}){Initialisers(r, scalars, objects).braced(record)}"
            self._say(unit, f"    struct {record.tag} *lit = &{literal};")
            prints += [f'    out("{name}.{place}", {place});' for place in leaves(record, "(*lit)")]
        self._say(unit, *prints)
        if self._objects and r.random() < 0.4:
            one = r.choice(self._objects)
            place = r.choice(list(leaves(one.type, one.name)))
            hidden = f"        int {one.name} = p; {{ extern {declared(one.type, one.name)}; {place} ^= 3; }}"
            self._say(unit, "    {", hidden, f'        out("hidden", {one.name});', "    }")
        self._say(unit, "}")
        self._external += [f"{name}({r.randrange(-3, 9)});"] * r.randrange(1, 3)

    def _write_main(self) -> None:
        r, calls = self._random, list(self._external)
        r.shuffle(calls)
        declarations = dict.fromkeys(f"{call.partition('(')[0]}" for call in calls)
        self._say(
            0, *(f"void {name}({'int p' if name.rpartition('f')[0] == self._prefix else 'void'});" for name in declarations)
        )
        self._say(0, *(f"extern {declared(one.type, one.name)};" for one in self._objects))
        self._say(0, f"void {self.entry}(void)", "{", *(f"    {call}" for call in calls))
        for one in self._objects:
            self._say(0, *(f'    out("{place}", {place});' for place in leaves(one.type, one.name)))
        self._say(0, "}")
