"""What the call graphs and the functions of a program look like: for `benchmarks.generated`, which makes programs of that shape.

`python -m benchmarks.shape [NAME ...]` prints it for the programs of the benchmarks, as Markdown.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import networkx as nx

from analysis.cfa.callgraph import components
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.link import link
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.options import Options
from analysis.session.files.program_files import find_program
from analysis.session.files.texts import Texts
from analysis.session.units.program_units import Units
from benchmarks.programs import PROGRAMS, provide
from benchmarks.sources import FetchError

PERCENTS = (10, 25, 50, 75, 90, 95, 99, 100)
_KINDS = {
    "allocations": re.compile(r"alloc|strdup|newstr|^mk"),
    "releases": re.compile(r"free"),
    "locks and unlocks": re.compile(r"lock"),
}


@dataclass
class Shape:
    """The figures of one program. Lists have an element a function; `counts` are sums over the program, by what they count."""

    files: int
    lines: int
    functions_a_file: list[int]
    components: list[int]
    edges: list[int] = field(default_factory=list)
    callees: list[int] = field(default_factory=list)
    callers: list[int] = field(default_factory=list)
    null_tests: list[int] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def shape_of(program: Program, unit_of: dict[str, str], functions_a_file: list[int], lines: int) -> Shape:
    """The shape of a linked program; `unit_of` says in which file each function is."""
    found = Shape(len(functions_a_file), lines, functions_a_file, [len(names) for names in components(program)])
    counts = found.counts
    direct: nx.DiGraph[str] = nx.DiGraph()
    direct.add_nodes_from(program.functions)
    callers: Counter[str] = Counter()
    for name, cfa in program.functions.items():
        called = _calls(program, name, cfa, counts)
        direct.add_edges_from((name, callee) for callee in called)
        callers.update(called)
        counts["pairs of a function and one that it calls by name"] += len(called)
        counts["of these in one file"] += sum(unit_of[callee] == unit_of[name] for callee in called)
        counts["functions that call themselves"] += name in called
        found.edges.append(len(cfa.edges))
        found.callees.append(len(called))
        found.null_tests.append(sum(_is_null_test(edge.effect) for edge in cfa.edges))
    found.callers = [callers[name] for name in program.functions]
    sizes = [len(names) for names in nx.strongly_connected_components(direct)]
    counts["functions in recursions of several, calls by name only"] = sum(size for size in sizes if size > 1)
    counts["the largest such recursion"] = max(size for size in sizes)
    counts["functions whose address is taken"] = len(program.address_taken & program.functions.keys())
    return found


def _calls(program: Program, name: str, cfa: Cfa, counts: Counter[str]) -> set[str]:
    """The functions with a body that one calls by name; counts its calls."""
    called: set[str] = set()
    through_pointer = False
    for edge in cfa.calls:
        if not isinstance(edge.effect, ir.Call):
            continue
        counts["calls"] += 1
        callee = ir.strip_casts(edge.effect.callee)
        if isinstance(callee, ir.Var) and callee.scope == "function":
            if callee.name in program.functions:
                called.add(callee.name)
            else:
                counts["calls of external functions"] += 1
            for kind, pattern in _KINDS.items():
                counts[kind] += bool(pattern.search(callee.name.rpartition("::")[2]))
        else:
            counts["calls through pointers"] += 1
            through_pointer = True
    counts["functions that call through pointers"] += through_pointer
    return called


def _is_null_test(effect: ir.Effect) -> bool:
    """Whether an edge is one side of a test of a pointer; each test is counted once, by its true side."""
    if not isinstance(effect, ir.Assume) or not effect.truth:
        return False
    condition = ir.strip_casts(effect.condition)
    if isinstance(condition, ir.Binary) and condition.operator in ("==", "!="):
        right = ir.strip_casts(condition.right)
        if not (isinstance(right, ir.IntConst) and right.value == 0):
            return False
        condition = ir.strip_casts(condition.left)
    return isinstance(getattr(condition, "type", None), Pointer)


def read_shape(commands: Path) -> Shape:
    """The shape of the program of a compile_commands.json."""
    options = Options(compile_commands=str(commands))
    found = find_program([], options)
    units = Units(options, Texts(), jobs=1).revise(found.files, found.flags, None, None) or []
    unit_of = {function.cfa.name: unit.path for unit in units for function in unit.kept.unit.functions}
    lines = sum(Path(path).read_bytes().count(b"\n") for path in found.files)
    linked = link([unit.kept.unit for unit in units])
    return shape_of(linked.program, unit_of, [len(unit.kept.unit.functions) for unit in units], lines)


def table(shapes: dict[str, Shape]) -> str:
    """Some programs side by side."""
    rows: list[tuple[str, list[str]]] = [
        ("lines of the C files", [str(shape.lines) for shape in shapes.values()]),
        ("files", [str(shape.files) for shape in shapes.values()]),
        ("functions", [str(len(shape.edges)) for shape in shapes.values()]),
    ]
    for what in ("functions_a_file", "edges", "callees", "callers", "null_tests"):
        title = {"functions_a_file": "functions a file", "null_tests": "null tests"}.get(what, what)
        shown = [_distribution(getattr(shape, what)) for shape in shapes.values()]
        rows.append((f"{title}{'' if what == 'functions_a_file' else ' a function'}", shown))
    rows.append(("largest recursions", [str(sorted(s.components, reverse=True)[:6])[1:-1] for s in shapes.values()]))
    for kind in dict.fromkeys(kind for shape in shapes.values() for kind in shape.counts):
        rows.append((kind, [str(shape.counts[kind]) for shape in shapes.values()]))
    lines = [f"| | {' | '.join(shapes)} |", "|---" * (len(shapes) + 1) + "|"]
    return "\n".join([*lines, *(f"| {title} | {' | '.join(values)} |" for title, values in rows)])


def _distribution(values: Iterable[int]) -> str:
    ordered = sorted(values)
    shown = (f"{ordered[round(percent / 100 * (len(ordered) - 1))]}" for percent in PERCENTS)
    return f"{statistics.mean(ordered):.1f} ({' '.join(shown)})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shape", description="Measure what programs look like.")
    parser.add_argument("names", nargs="*", help=f"which programs: {', '.join(PROGRAMS)} (default: all)")
    given = parser.parse_args(arguments)
    try:
        shapes = {name: read_shape(provide(name)) for name in given.names or list(PROGRAMS)}
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"Distributions: the mean and, in parentheses, the percentiles {', '.join(map(str, PERCENTS))}.\n\n{table(shapes)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
