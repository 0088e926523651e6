"""C programs of any size with the shape of real ones, the same for the same seed: for `benchmarks.growth`.

The call graph and its measured model are `benchmarks.call_graphs`'. A file has a structure type of its own, a list and a lock
that are global, and a header that others include. A function has one of four signatures (see `_SIGNATURES`); what
is inside is `benchmarks.generated_bodies`'.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec

from benchmarks.call_graphs import Node, call_graph
from benchmarks.generated_bodies import Body

_SIGNATURES = {  # by what they do to a structure: return one, use one, release one, or have nothing to do with it
    "make": "struct node_{file} *make_{number}(int n)",
    "use": "int use_{number}(struct node_{file} *p, int n)",
    "drop": "void drop_{number}(struct node_{file} *p)",
    "plain": "int plain_{number}(int n, const char *s)",
}
_WEIGHTS = (15, 40, 5, 40)
_KINDS = tuple(_SIGNATURES)
_LINES = 58.0  # a function, with its share of headers and of what stands between functions


class Text(msgspec.Struct, frozen=True):
    """A file of the program: its name, its lines, and the first and the last line of each function, by name."""

    name: str
    lines: tuple[str, ...]
    functions: dict[str, tuple[int, int]] = {}

    @property
    def text(self) -> str:
        """As it is written to the disk."""
        return "\n".join(self.lines) + "\n"


def generate(lines: int, seed: int) -> list[Text]:
    """The files of a program of about so many lines."""
    nodes = call_graph(max(2, round(lines / _LINES)), Random(f"{seed} calls"))
    kinds = ["use", *Random(f"{seed} kinds").choices(_KINDS, _WEIGHTS, k=len(nodes) - 1)]
    files: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        files.setdefault(node.file, []).append(number)
    written: list[Text] = []
    for file, members in files.items():
        written.append(_header(file, members, nodes, kinds))
        written.append(_source(file, members, nodes, kinds, seed))
    return written


def write(files: list[Text], folder: Path) -> list[Path]:
    """Writes a program; the paths of its C files."""
    for file in files:
        (folder / file.name).write_text(file.text, encoding="utf-8")
    return [folder / file.name for file in files if file.name.endswith(".c")]


def _signature(number: int, nodes: list[Node], kinds: list[str]) -> str:
    return _SIGNATURES[kinds[number]].format(file=nodes[number].file, number=number)


def _header(file: int, members: list[int], nodes: list[Node], kinds: list[str]) -> Text:
    guard = f"FILE_{file}_H"
    lines = [
        f"#ifndef {guard}",
        f"#define {guard}",
        f"struct node_{file} {{",
        "    int kind;",
        "    int count;",
        "    char *name;",
    ]
    lines += [f"    struct node_{file} *next;", f"    int (*visit)(struct node_{file} *, int);", "};"]
    lines += [f"extern struct node_{file} *list_{file};", f"extern int total_{file};"]
    lines += [f"{_signature(number, nodes, kinds)};" for number in members if number]
    return Text(f"file_{file}.h", (*lines, "#endif"))


def _source(file: int, members: list[int], nodes: list[Node], kinds: list[str], seed: int) -> Text:
    used = sorted({nodes[callee].file for number in members for callee in nodes[number].callees} | {file})
    lines = ["#include <pthread.h>", "#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>"]
    lines += [f'#include "file_{other}.h"' for other in used]
    lines += ["", f"static struct node_{file} first_{file};", f"struct node_{file} *list_{file} = &first_{file};"]
    lines += [f"int total_{file};"]
    lines += [f"static pthread_mutex_t lock_{file} = PTHREAD_MUTEX_INITIALIZER;"]
    taken = [number for number in members if nodes[number].address_taken and kinds[number] == "use"]
    lowest = min((nodes[number].rank for number in taken), default=0.0)
    functions: dict[str, tuple[int, int]] = {}
    for number in members:
        random = Random(f"{seed} {number}")
        through_pointer = nodes[number].calls_through_pointer and nodes[number].rank < lowest
        visit = [f"use_{target}" for target in taken if nodes[target].rank > nodes[number].rank]
        body = Body(file, number, nodes, kinds, random, through_pointer, visit)
        lines += ["", "/*", f" * Number {number}, of file {file}.", " */"]
        first = len(lines)
        lines += [_signature(number, nodes, kinds) if number else "int main(int argc, char **argv)", "{", *body.lines(), "}"]
        functions["main" if not number else f"{kinds[number]}_{number}"] = first, len(lines)
    return Text(f"file_{file}.c", tuple(lines), functions)
