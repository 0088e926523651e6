"""What the engine keeps from revision to revision, and changes by what an edit changes, is what it finds out from nothing."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from analysis.api import Checker
from analysis.cfa.graph import Places, Program
from analysis.engines.automaton import Algorithm, Analysis
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.rules.automaton import Rule
from analysis.session.entries import EntryChoice, choose_entries
from tests.support.program_edits import LARGE, Edited

_STEPS = 8
_ALGORITHMS: tuple[Algorithm, ...] = ("incr-fwd", "incr-back")


def _kept(delta: ProgramDelta, entries: tuple[str, ...]) -> dict[str, object]:
    """What is known of the program as a whole, and of what functions write and read through those that they call."""
    prints = delta.footprints
    models = {name: delta.lookup(name) for name in delta.program.functions}
    return {
        "edges": delta.program.edges,
        "counts": delta.beliefs.counts,
        "constants": delta.constants,
        "footprints": (prints.written, prints.read, prints.kept, prints.returning),
        "components": {
            frozenset(one for one in prints.component if prints.component[one] == at) for at in prints.component.values()
        },
        "begun": {(name, delta.facts[state]) for name, state in delta.initial(entries)},
        "calls": {(name, edge.id): model.written_by_callees(edge) for name, model in models.items() for edge in model.cfa.calls},
        "sensitive": {(name, edge.id): model.sensitive(edge) for name, model in models.items() for edge in model.cfa.edges},
    }


def _said(analysis: Analysis, places: Places) -> dict[str, object]:
    analysis.findings(places)
    verdicts, summaries = analysis.said(0)
    found = {name: {rule: (v.verdict, v.reason, v.assumptions) for rule, v in one.items()} for name, one in verdicts.items()}
    return {"verdicts": found, "summaries": summaries}


def _from_nothing(program: Program, rules: tuple[Rule, ...], entries: tuple[str, ...]) -> Analysis:
    analysis = Analysis(program, rules, LARGE.limits)
    analysis.run(entries)
    return analysis


class _Revisions:
    """A program of files in a folder, with analyses that go from revision to revision, one for each algorithm."""

    def __init__(self, files: list[str]) -> None:
        self._checker = Checker(LARGE)
        self._checker.open(files)
        self._choice = EntryChoice()
        seen = self._checker.inspect()
        entries = self._choice.choose(seen.program, (), ()).names
        self._analyses = {algorithm: _from_nothing(seen.program, self._checker.rules, entries) for algorithm in _ALGORITHMS}
        for analysis in self._analyses.values():
            _said(analysis, seen.places)  # so that there is something to keep

    def compare(self) -> None:
        """Goes on to what the files hold now, and compares with an analysis from nothing."""
        self._checker.refresh()
        seen = self._checker.inspect()
        entries = self._choice.choose(seen.program, (), ()).names
        assert entries == choose_entries(seen.program, ()).names
        anew = _from_nothing(seen.program, self._checker.rules, entries)
        kept, said = _kept(anew.delta, entries), _said(anew, seen.places)
        for algorithm, analysis in self._analyses.items():
            assert analysis.revise(seen.program, entries, algorithm), analysis.refusal
            assert _kept(analysis.delta, entries) == kept
            assert _said(analysis, seen.places) == said
        assert self._analyses["incr-fwd"].graph.sizes == anew.graph.sizes  # the other one leaves what nothing leads to


@pytest.mark.parametrize("seed", [5, 17])
def test_what_is_kept_is_what_is_found_from_nothing(seed: int, tmp_path: Path) -> None:
    program = Edited(Random(seed), 120)
    revisions = _Revisions(program.write(tmp_path))
    for _ in range(_STEPS):
        program.edit()
        for name in program.changed:
            (tmp_path / name).write_text(program.text(name), encoding="utf-8")
        revisions.compare()


BODIES = {
    "quit": ("", "flag = 1;", "exit(1);", "flag = 1; exit(1);", "other(p); exit(1);", "flag = 2; other(p); exit(1);"),
    "other": ("", "*p = 1;", "kept = p;", "flag = 0;", "if (flag) quit(p);", "shared++;", "exit(2);"),
    "look": ("return p;", "return shared ? p : 0;", "other(p); return p;", "return kept;", "return flag ? 0 : p;"),
    "main": ("", "*look(p) = 1;", "int *q = look(p); if (q) *q = 1;", "quit(p); *look(p) = 2;", "other(p); if (flag) *p = 1;"),
}
HEAD = "void exit(int); static int flag = 0, *kept; int shared;\nvoid quit(int *), other(int *); int *look(int *);\n"


@pytest.mark.parametrize("seed", range(4))
def test_it_is_so_where_globals_and_what_calls_do_differ(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    file = tmp_path / "a.c"
    chosen = {name: bodies[0] for name, bodies in BODIES.items()}

    def write() -> None:
        functions = [f"void {name}(int *p) {{ {chosen[name]} }}\n" for name in ("quit", "other")]
        functions.append(
            f"int *look(int *p) {{ {chosen['look']} }}\nint main(void) {{ int a = 0, *p = &a; {chosen['main']} return a; }}"
        )
        file.write_text(HEAD + "".join(functions), encoding="utf-8")

    write()
    revisions = _Revisions([str(file)])
    for _ in range(25):
        name = random.choice(sorted(BODIES))
        chosen[name] = random.choice(BODIES[name])
        write()
        revisions.compare()


@pytest.mark.parametrize("body", ["", "*p = 1;"])
def test_it_is_so_where_a_function_that_did_not_change_is_not_reached_for_a_while(body: str, tmp_path: Path) -> None:
    """The call that leads to `second` is two calls above it."""
    file = tmp_path / "a.c"
    below = f"static void second(int *p) {{ {body} }}\nstatic void first(int *p) {{ second(p); }}\n"

    def write(call: str) -> None:
        main = f"int main(void) {{ int *p = 0; {call} return 0; }}\n"
        file.write_text(below + main, encoding="utf-8")

    write("first(p);")
    revisions = _Revisions([str(file)])
    for call in ("", "first(p);", "second(p);", "", "first(p); second(p);"):
        write(call)
        revisions.compare()
