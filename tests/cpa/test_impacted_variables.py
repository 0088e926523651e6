"""Change impact analysis: the example of the paper, cases one by one, and that it is sound: both revisions run on the same
inputs, and what differs where both are is in the set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Program
from analysis.cfa.revisions.location_map import FunctionMap, ProgramMap, program_map
from analysis.cfa.revisions.match import by_order
from analysis.cfa.revisions.similarity_flooding import by_flooding
from analysis.cpa.impact.impacted_variables import Impact
from analysis.interpreter.halting import EndError, ViolationError
from analysis.interpreter.inputs import InputValue, Question
from analysis.interpreter.machine import Machine
from analysis.interpreter.outcome import Bounds, End, Returned, Start
from analysis.interpreter.program_code import code_of
from analysis.model import ir
from analysis.model.c_types import Integer
from tests.support.explorations import program_of
from tests.support.random_c import program
from tests.support.revised_c import revised

PAPERS = Path(__file__).parents[2] / "fixtures" / "programs" / "papers"
HEAD = "int nondet(void); void reach_error(void); extern int known(int *p);\n"
program_of(program(Random(0)))  # before any test: it raises Python's recursion limit


def paper(name: str) -> Program:
    text = (PAPERS / f"{name}.c").read_text("utf-8")
    return program_of("\n".join(line for line in text.splitlines() if not line.startswith("#define")).replace("N", "4"))


def impact_of(old: str, new: str) -> Impact:
    return Impact(program_map(program_of(HEAD + new), program_of(HEAD + old)), is_whole=True)


def at_end(impact: Impact, function: str = "main") -> set[str]:
    """The names of the variables that may differ where a function ends."""
    found = impact.differs(function, impact.pair.new.functions[function].exit)
    own = (name.removeprefix(f"{function}|") for name in found.locals)
    return {name for name in (*found.variables, *own) if name.isalnum()}


def test_example_4_3_of_the_paper() -> None:
    pair = program_map(paper("ipa-fig2-second"), paper("ipa-fig2-first"))
    mapped, cfa = pair.functions["main"], pair.new.functions["main"]
    assert [cfa.locations.index(at) for at in cfa.locations if at not in mapped.locations]  # those that are new
    impact = Impact(pair, is_whole=True)
    named = {at: {name.removeprefix("main|") for name in impact.at("main", at).locals if "$" not in name} for at in cfa.locations}
    first = {cfa.entry}
    (loop,) = (edge.target for edge in cfa.edges if edge.target in {e.source for e in cfa.edges} and _is_back(cfa.edges, edge))
    before = {at for at in cfa.locations if cfa.reverse_postorder[at] < cfa.reverse_postorder[loop]}
    assert named == {at: set() if at in first | before else {"i", "q"} for at in cfa.locations}


def _is_back(edges: tuple[object, ...], edge: object) -> bool:
    order = list(edges)
    return order.index(edge) > min(at for at, other in enumerate(order) if other.source == edge.target)  # type: ignore[attr-defined]


def test_what_is_deleted_has_an_impact() -> None:
    body = "int main(void) {{ int a = 1, b = 2; {} b = a; return 0; }}"
    impact = impact_of(body.format("a = 5;"), body.format(""))
    assert at_end(impact) == {"a", "b"}


def test_what_an_impacted_branch_decides() -> None:
    body = "int main(void) {{ int a = nondet(), b = 0, c = 0; if (a > {}) goto out; b = 1; out: c = 2; return 0; }}"
    assert at_end(impact_of(body.format(1), body.format(2))) == {"b"}


def test_a_deleted_branch() -> None:
    old = "int main(void) { int a = nondet(), b = 0, c = 0; if (a) { b = 1; return 0; } c = 1; return 0; }"
    new = "int main(void) { int a = nondet(), b = 0, c = 0; c = 1; return 0; }"
    assert at_end(impact_of(old, new)) >= {"b", "c"}


def test_through_pointers_and_calls() -> None:
    body = (
        "int g; void put(int *p, int v) {{ *p = v; }} int main(void) {{ int a = 0, b = 0; long c = 0; "
        "put(&a, {}); b = a; c = 3; g = b; return 0; }}"
    )
    impact = impact_of(body.format(1), body.format(2))
    assert at_end(impact) == {"b", "g"}
    function = impact.pair.new.functions["main"]
    variables = {v.name: v for edge in function.edges for e in ir.expressions(edge.effect) for v in ir.variables(e)}
    writes = impact.at("main", function.exit)
    assert impact.is_impacted(variables["a"], "main", writes)
    assert not impact.is_impacted(variables["c"], "main", writes)


def test_what_a_function_returns() -> None:
    body = "int f(int n) {{ return n + {}; }} int main(void) {{ int a = f(1), b = 2; return 0; }}"
    assert at_end(impact_of(body.format(1), body.format(2))) == {"a"}


def test_an_unknown_function_may_read_what_is_impacted() -> None:
    body = "int g; int main(void) {{ int a = 0, b = 1; g = {}; a = known(0); return 0; }}"
    assert {"g", "a"} <= at_end(impact_of(body.format(1), body.format(2)))


def test_other_initial_values() -> None:
    body = "int g = {}, h; int main(void) {{ int a = g, b = h; return 0; }}"
    assert at_end(impact_of(body.format(1), body.format(2))) == {"g", "a"}


def test_threads_and_other_records_impact_everything() -> None:
    body = "struct s {{ int a; {} b; }}; int main(void) {{ struct s s; s.b = 1; return s.b; }}"
    assert impact_of(body.format("int"), body.format("char")).everything


# -- both revisions on the same inputs ------------------------------------------------------------------------------


class Visit(NamedTuple):
    """A location that a run passes, in the ids of the old revision where it has it, and what variables hold there."""

    function: str
    location: int
    old: int | None
    is_free: bool  # no impacted branch decides whether it is passed
    values: dict[tuple[str, str], int]


class Same:
    """The same inputs for both revisions, as long as both are at the same place: by the number of such places passed."""

    def __init__(self, seed: int, side: str) -> None:
        self.seed, self.side, self.passed, self.is_free, self.asked = seed, side, 0, True, 0

    def answer(self, question: Question) -> InputValue | None:
        self.asked += 1
        where = f"{self.seed} {self.passed}" if self.is_free else f"{self.seed} {self.side} {self.asked}"
        return Random(where).randrange(4)


def visits(program_: Program, side: str, impact: Impact, seed: int) -> tuple[list[Visit], bool]:
    """The locations that a run of one revision passes; and whether it comes to its end."""
    inputs, found = Same(seed, side), list[Visit]()
    machine = Machine(code_of(program_, Start("main")), Start("main"), inputs, Bounds(steps=20_000))
    by_old = {one.old.name: one for one in impact.pair.functions.values()}

    def watch() -> End | None:
        name, location = machine.current.name, machine.location
        mapped = impact.pair.functions.get(name) if side == "new" else by_old.get(name)
        new, old = _both(mapped, location, side)
        function = name if mapped is None else mapped.new.name
        inputs.is_free = new is not None and old is not None and (function, new) not in impact.controlled
        inputs.passed += inputs.is_free
        values = dict(_values(machine, program_, mapped, side))
        found.append(Visit(function, -1 if new is None else new, old, inputs.is_free, values))
        return None

    run = machine.run(watch=watch)
    return found, isinstance(run.end, Returned)


def _both(mapped: FunctionMap | None, location: int, side: str) -> tuple[int | None, int | None]:
    if mapped is None:
        return None, None
    if side == "new":
        return location, mapped.locations.get(location)
    return next((mine for mine, theirs in mapped.locations.items() if theirs == location), None), location


def _values(machine: Machine, program_: Program, mapped: FunctionMap | None, side: str) -> Iterator[tuple[tuple[str, str], int]]:
    code = machine.current
    variables = {p for parts in code.cfa.parts.values() for p in parts if isinstance(p, ir.Var) and p.scope != "function"}
    variables |= {one.var for one in program_.globals.values()}
    for variable in variables:
        if not isinstance(variable.type, Integer):
            continue
        name = variable.name
        if side == "old" and mapped is not None and variable.scope in ("local", "temporary"):
            name = mapped.variables.get(name, name + " of before")
        try:
            with machine.peek():
                yield (variable.scope, name), code.expressions.value(variable)(machine.registers)
        except (EndError, ViolationError, TypeError, KeyError):
            continue


def differing(impact: Impact, visit: Visit, other: Visit) -> list[str]:
    """The variables that differ between the revisions at one place, and are not said to be impacted."""
    found = []
    writes = impact.differs(visit.function, visit.location)
    for (scope, name), value in visit.values.items():
        if (scope, name) in other.values and other.values[scope, name] != value:
            variable = ir.Var(name, scope, Integer(32, True, "int"))  # type: ignore[arg-type]
            if not impact.is_impacted(variable, visit.function, writes):
                found.append(f"{name}: {other.values[scope, name]} before, {value} now")
    return found


def checked(pair: ProgramMap, seed: int) -> int:
    """Compares one run of both; the number of places that were compared."""
    impact = Impact(pair, is_whole=True)
    assert not impact.everything
    (now, is_over), (before, was_over) = visits(pair.new, "new", impact, seed), visits(pair.old, "old", impact, seed)
    compared, mine, theirs = 0, _segments(now), _segments(before)
    if is_over and was_over:
        assert len(mine) == len(theirs)
    for (place, between), (other, beside) in zip(mine, theirs, strict=False):
        assert (place.function, place.old) == (other.function, other.old)
        assert differing(impact, place, other) == []
        compared += 1
        for one in between:
            for another in beside:
                if one.old is not None and (one.function, one.old) == (another.function, another.old):
                    assert differing(impact, one, another) == []
                    compared += 1
    return compared


def _segments(trace: list[Visit]) -> list[tuple[Visit, list[Visit]]]:
    """The places that no impacted branch decides about, each with those that follow before the next one."""
    found: list[tuple[Visit, list[Visit]]] = []
    for visit in trace:
        if visit.is_free:
            found.append((visit, []))
        elif found:
            found[-1][1].append(visit)
    return found


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1_000_000))
def test_what_differs_is_impacted(seed: int) -> None:
    random = Random(seed)
    old = program(random)
    new = revised(old, random)
    note(f"{old}\n\n{new}")
    pair = program_map(program_of(new), program_of(old), by_flooding if seed % 3 == 0 else by_order)
    assert sum(checked(pair, number) for number in range(3)) > 0
