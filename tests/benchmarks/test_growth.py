"""Programs of any size: the same for the same seed, C that compiles, of the shape that was measured; and what is said of them."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from random import Random

import networkx as nx
import pytest

from benchmarks.body_edits import KINDS, body_edits
from benchmarks.call_graphs import call_graph, drawn
from benchmarks.generated import generate, write
from benchmarks.generated_bodies import EDGES
from benchmarks.growth import grown, measure, picture, table
from benchmarks.shape import read_shape


def test_the_same_seed_gives_the_same_program_and_another_one_another() -> None:
    assert generate(3000, 7) == generate(3000, 7)
    assert generate(3000, 7) != generate(3000, 8)


def test_a_generated_program_compiles_without_a_warning_that_matters(tmp_path: Path) -> None:
    paths = write(generate(4000, 3), tmp_path)
    unused = ["-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-unused-parameter"]
    command = ["gcc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *unused, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("size", [800, 6000])
def test_call_graphs_have_the_measured_shape_whatever_their_size(size: int) -> None:
    nodes = call_graph(size, Random(0))
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from((number, callee) for number, node in enumerate(nodes) for callee in node.callees)
    assert len(nx.descendants(graph, 0)) == size - 1  # every function is reached
    callees = sorted(len(node.callees) for node in nodes)
    callers = Counter(callee for node in nodes for callee in node.callees)
    assert 1.9 < sum(callees) / size < 2.8
    assert callees[size // 2] <= 1
    assert max(callers.values()) > 30
    recursions = sorted((len(names) for names in nx.strongly_connected_components(graph)), reverse=True)
    assert recursions[0] == 30
    assert 0.05 * size < sum(n for n in recursions if n > 1) < 0.15 * size


def test_sizes_are_drawn_from_the_percentiles() -> None:
    random = Random(0)
    values = sorted(drawn(EDGES, random) for _ in range(10_000))
    assert abs(values[5000] - 18) < 2
    assert abs(values[9000] - 108) < 15
    assert values[-1] <= 1856


def test_the_shape_of_a_program_is_counted(tmp_path: Path) -> None:
    text = """\
void *malloc(unsigned long);
static int down(int n) { return n ? down(n - 1) : 0; }
static int use(int *p) { if (p == 0) return 1; return *p + down(2); }
int main(int argc, char **argv) { int (*f)(int *) = use; int *p = malloc(4); return f(p) + use(p) + !argv; }
"""
    (tmp_path / "p.c").write_text(text, encoding="utf-8")
    commands = tmp_path / "compile_commands.json"
    commands.write_text(json.dumps([{"directory": str(tmp_path), "file": "p.c", "arguments": ["cc", "-c", "p.c"]}]))
    shape = read_shape(commands)
    assert (shape.files, shape.lines, shape.functions_a_file) == (1, 4, [3])
    assert (shape.callees, shape.callers) == ([1, 1, 1], [2, 1, 0])
    assert shape.null_tests[:2] == [0, 1]
    counted = {kind: count for kind, count in shape.counts.items() if count}
    assert counted["calls"] == 5
    assert counted["calls through pointers"] == counted["functions that call through pointers"] == 1
    assert counted["calls of external functions"] == counted["allocations"] == 1
    assert counted["functions that call themselves"] == counted["functions whose address is taken"] == 1
    assert counted["pairs of a function and one that it calls by name"] == counted["of these in one file"] == 3


def test_an_edit_is_inside_one_function_and_of_each_kind_in_turn() -> None:
    files = generate(4000, 1)
    edits = body_edits(files, 10, 1)
    assert [edit.kind for edit in edits] == [*KINDS, *KINDS]
    for edit in edits:
        first, last = edit.file.functions[edit.function]
        lines, old = edit.text.split("\n")[:-1], list(edit.file.lines)
        more = len(lines) - len(old)
        assert more > 0
        assert lines[: first + 2] == old[: first + 2]
        assert lines[last - 1 + more :] == old[last - 1 :]
        assert re.search(rf"\b{edit.function}\(", lines[first])


def test_a_small_program_is_measured_and_shown() -> None:
    size = measure(1500, 2, 5, 4000, 300)
    assert size.ended is None
    assert not size.different
    assert len(size.edits) == 4
    assert size.full is not None
    assert size.full["from_scratch"]
    assert not any(edit["from_scratch"] for edit in size.edits)
    assert all(edit["computed"] < size.full["computed"] for edit in size.edits)
    text = table([size])
    assert f"| lines | {size.lines} |" in text
    assert "| edits measured | 4 |" in text
    assert "not complete" not in text
    assert picture([size]).startswith("<svg")


def test_a_size_that_needs_more_memory_than_it_may_have_is_in_the_table_as_far_as_it_came() -> None:
    size = measure(60_000, 1, 0, 120, 300)
    assert size.ended == "more than 120 MB"
    assert size.full is None
    assert "| not complete, because of | more than 120 MB |" in table([size])


def test_what_a_process_said_before_it_was_ended_counts() -> None:
    said = b'{"stage": "program", "megabytes": 50.0, "lines": 990, "files": 2, "functions": 20}\n{"stage": "fu'
    size = grown(1000, said, "more than 3 s")
    assert (size.lines, size.megabytes, size.full) == (990, 50.0, None)
    text = table([size])
    assert "| C files, functions | 2, 20 |" in text
    assert "| not complete, because of | more than 3 s |" in text
    assert "Full, s" not in text


def test_findings_that_do_not_come_back_are_reported() -> None:
    said = b'{"stage": "different", "megabytes": 50.0, "kind": "a branch", "function": "use_3"}\n'
    assert "**Other findings than before the edit**, 1000 lines: a branch in use_3" in table([grown(1000, said, None)])
