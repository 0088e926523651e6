"""The structure of the code, in numbers: `python -m benchmarks.structure [FOLDER...]`.

One column for each checkout that is named (default: this one), so that two revisions can be compared. A *room* is a package;
its size is the number of modules directly in it. A *cycle* is a strongly connected component of more than one module, with
imports for types and in functions counted. Complexity is McCabe's number plus one for each Boolean operator, conditional
expression, comprehension and case, as radon counts it. Two modules are *in sight* of each other if one could be meant for
the other: they are in the same room, in sibling rooms, or one is in a room that encloses the other's.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

from analysis.cfa.components import strongly_connected

PACKAGES = ("analysis", "server")
MOST_COMPLEX = 20
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.Assert,
    ast.comprehension,
    ast.match_case,
)


def main(arguments: Sequence[str] | None = None) -> int:
    folders = [Path(name) for name in (sys.argv[1:] if arguments is None else arguments)] or [Path(__file__).parents[1]]
    columns = [figures(modules(folder)) for folder in folders]
    print("| | " + " | ".join(str(folder) for folder in folders) + " |")
    print("|---|" + "---|" * len(folders))
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")
    return 0


def modules(root: Path) -> dict[str, ast.Module]:
    """The syntax of all modules below the packages, by dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def figures(trees: Mapping[str, ast.Module]) -> dict[str, str]:
    """The rows of the table."""
    sizes = rooms(trees)
    largest = max(sizes, key=lambda room: sizes[room])
    found = complex_functions(trees)
    names = Counter(name.rpartition(".")[2] for name in trees if name not in sizes)
    return {
        "modules": str(len(trees) - len(sizes)),
        "rooms": str(len(sizes)),
        "modules in a room, median": f"{median(sizes.values()):g}",
        "modules in the largest room": f"{sizes[largest]} (`{largest}`)",
        "import cycles": str(len(cycles(trees))),
        "modules in import cycles": str(sum(map(len, cycles(trees)))),
        "imports in functions, and for types only": str(len(hidden_imports(trees))),
        f"functions above complexity {MOST_COMPLEX}": str(len(found)),
        "the most complex function": f"{max(found.values())}" if found else f"at most {MOST_COMPLEX}",
        "modules that share their name with another": str(sum(count for count in names.values() if count > 1)),
        "pairs of one name in sight of each other": str(len(in_sight(trees))),
        "modules without a docstring": str(sum(ast.get_docstring(tree) is None for tree in trees.values())),
    }


def rooms(trees: Mapping[str, ast.Module]) -> dict[str, int]:
    """How many modules are directly in each package that has any."""
    packages = {name.rpartition(".")[0] for name in trees} - {""}
    found = Counter(name.rpartition(".")[0] for name in trees if name not in packages)
    return {room: found[room] for room in sorted(packages) if found[room]}


def imports(name: str, tree: ast.AST, trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, ast.stmt]]:
    """The modules of ours that a module imports, wherever in its text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names if alias.name in trees)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                wanted = inner if inner in trees else node.module
                if wanted in trees and wanted != name:
                    yield wanted, node


def cycles(trees: Mapping[str, ast.Module]) -> list[list[str]]:
    """Modules that import each other, directly or through others."""
    graph = {name: [wanted for wanted, _ in imports(name, tree, trees)] for name, tree in trees.items()}
    return [component for component in strongly_connected(graph) if len(component) > 1]


def hidden_imports(trees: Mapping[str, ast.Module]) -> list[str]:
    """Imports of our modules that are not at the top of the module."""
    return [
        f"{name}:{node.lineno}"
        for name, tree in trees.items()
        for _, node in imports(name, tree, trees)
        if node not in tree.body and not name.endswith("__main__")
    ]


def complex_functions(trees: Mapping[str, ast.Module]) -> dict[str, int]:
    """Functions above the bound, with their complexity. A function inside another counts by itself, not in it."""
    found = {}
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, _FUNCTIONS) and (complexity := 1 + sum(map(_cost, _own(node)))) > MOST_COMPLEX:
                found[f"{name}:{node.lineno} {node.name}"] = complexity
    return found


def _own(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, _FUNCTIONS):
            yield child
            yield from _own(child)


def _cost(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return (1 if isinstance(node, _BRANCHES) else 0) + (len(node.ifs) if isinstance(node, ast.comprehension) else 0)


def in_sight(trees: Mapping[str, ast.Module]) -> list[tuple[str, str]]:
    """Pairs of modules with one name that could be taken for each other."""
    packages = {name.rpartition(".")[0] for name in trees}
    by_name: dict[str, list[str]] = {}
    for name in trees:
        if name not in packages and not name.endswith("__main__"):
            by_name.setdefault(name.rpartition(".")[2], []).append(name.rpartition(".")[0])
    return [
        (f"{one}.{name}", f"{other}.{name}")
        for name, places in by_name.items()
        for one, other in combinations(places, 2)
        if one.rpartition(".")[0] == other.rpartition(".")[0]
        or f"{one}.".startswith(f"{other}.")
        or f"{other}.".startswith(f"{one}.")
    ]


if __name__ == "__main__":
    sys.exit(main())
