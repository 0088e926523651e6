"""The edges that one derivation stands for are those that a walk forward from its first edge finds, in the same order."""

from __future__ import annotations

from pathlib import Path
from random import Random

from support.program_edits import LARGE

from analysis.api import Checker
from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.solver.full import unpack

_PROGRAM = """\
void exit(int status);
void *malloc(unsigned long size);
void free(void *block);
int f(int n)
{
    char *block = malloc(8);
    int sum = 0;
    if (!block) return 1;
    STATEMENTS
    free(block);
    return sum;
}
"""


def _forward(delta: ProgramDelta, function: str, first: Edge, state: int, place: int) -> list[tuple[Edge, ...]]:
    """All chains of edges on which nothing happens, from the first edge on, that end in a place."""
    found: list[tuple[Edge, ...]] = []
    memo, names = delta.memo(function), delta.names_of(state)
    assert names is not None
    work: list[tuple[Edge, ...]] = [(first,)]
    while work:
        chain = work.pop()
        target = chain[-1].target
        if target == place:
            found.append(chain)
            continue
        following = memo.outgoing.get(target, ())
        if memo.model.single_entry(target) and memo.model.all_still(following, names):
            work.extend((*chain, after) for after, _ in reversed(following) if memo.model.cases.passes(after))
    return found


def _statements(depth: int, random: Random) -> str:
    """Branches and loops in each other, on which nothing happens to the block."""
    if depth == 0:
        return random.choice(("sum++;", "sum += n;", "if (sum > 90) return 2;", "if (n == 3) exit(1);"))
    inner, other = _statements(depth - 1, random), _statements(depth - 1, random)
    form = random.choice(
        ("if (n > {k}) {{ {a} }} else {{ {b} }}", "if (n > {k}) {{ {a} }} {b}", "while (n < {k}) {{ n++; {a} {b} }}")
    )
    return form.format(k=random.randrange(50), a=inner, b=other)


def _compared(text: str, path: Path) -> int:
    """How many derivations of a program stand for several stretches, all of which were compared."""
    path.write_text(text)
    checker = Checker(LARGE)
    checker.open([str(path)])
    _, analysis = checker.explore()
    delta, edges = analysis.delta, analysis.program.functions["f"].by_id
    several = 0
    part = analysis.graph.functions["f"]
    for configuration in part.derived:
        state = unpack(configuration)[2]
        for id_, derived in part.derivations(configuration):
            edge, place = edges[id_], unpack(derived)[0]
            if delta.quiet("f", edge, state) is not None:
                found = delta.stretches("f", edge, state, place)
                assert found == _forward(delta, "f", edge, state, place)
                several += len(found) > 1
    return several


def test_stretches_are_found_backwards_as_forwards(tmp_path: Path) -> None:
    texts = [_PROGRAM.replace("STATEMENTS", _statements(5, Random(seed))) for seed in range(3, 7)]
    assert sum(_compared(text, tmp_path / "a.c") for text in texts) > 10
