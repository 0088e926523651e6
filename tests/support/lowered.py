"""Small C texts through the front end, for tests: units, CFAs, and CFAs as text."""

from __future__ import annotations

from analysis.cfa.building.unit import Unit, build_unit
from analysis.cfa.cfa_text import dump_cfa
from analysis.cfa.graph import Cfa
from analysis.frontend.syntax.parser import parse
from analysis.model.c_types import LP64, DataModel


def unit_of(text: str, path: str = "t.c", previous: Unit | None = None, model: DataModel = LP64) -> Unit:
    """The unit of a C text that needs no preprocessing."""
    return build_unit(path, parse(text.encode()), model, previous)


def cfa_of(text: str, name: str = "f") -> Cfa:
    """The CFA of one function of a text."""
    return next(f.cfa for f in unit_of(text).functions if f.cfa.name.rpartition("::")[2] == name)


def edges_of(text: str, name: str = "f") -> str:
    """The edges of one function, one a line, as `dump_cfa` writes them, without its first line."""
    return "\n".join(line.strip() for line in dump_cfa(cfa_of(text, name)).splitlines()[1:])


def body(statements: str, parameters: str = "int a, int b, int *p, char *s") -> str:
    """The edges of a function with these statements."""
    declarations = (
        "typedef unsigned long size_t; void *malloc(size_t); void free(void *); int g(int); void use(); "
        "struct node { int v; struct node *next; union { int i; char c; }; }; typedef int T; extern int cond;"
    )
    return edges_of(f"{declarations} int f({parameters}) {{ {statements} }}")
