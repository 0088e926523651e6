"""Loop invariants that are reported in C: compiled into the program that they are of, they hold on every run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from analysis.api import Checker
from analysis.certificate.checked_outcome import Proved
from analysis.certificate.invariants import invariants
from analysis.cpa.predicates.violations import Property, violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.model.c_types import LP64
from analysis.model.options import Options

HEAD = "extern int __VERIFIER_nondet_int(void); extern unsigned __VERIFIER_nondet_uint(void);\n"
_RUNS = 20
PROGRAMS: dict[str, tuple[Property, str, set[str]]] = {
    "a counter": (
        "division-by-zero",
        """
        int main(void) {
            int n = __VERIFIER_nondet_int() % 50, c = 5;
            for (int i = 0; /*HERE*/ i < n; i++)
                if (c > 1)
                    c = c - 1;
            return 100 / c;
        }""",
        {"c > 0"},
    ),
    "two loops, and a member": (
        "division-by-zero",
        """
        struct pair { int a, b; } s;
        int main(void) {
            unsigned n = __VERIFIER_nondet_uint() % 50;
            s.a = 1;
            while (/*HERE*/ n > 3)
                n -= 2;
            while (/*HERE*/ s.b < 5)
                s.b++;
            return 100 / s.a;
        }""",
        {"s.a > 0"},
    ),
    "an index": (
        "array-bounds",
        """
        int a[8];
        int main(void) {
            int n = __VERIFIER_nondet_int(), i = 0;
            while (/*HERE*/ i < 8 && a[i] != n) {
                a[i] = i;
                i++;
            }
            return i;
        }""",
        set(),
    ),
    "a hidden name": (
        "shift-range",
        """
        static int bits = 3;
        int main(void) {
            int k = bits, n = __VERIFIER_nondet_int() % 9;
            for (int i = 0; /*HERE*/ i < n; i++) {
                int bits = i;
                k = bits > 31 ? 31 : k;
            }
            return 1 << k;
        }""",
        set(),
    ),
}


def invariants_of(file: Path, property_: Property) -> dict[int, str]:
    """The invariants of `main`, by the line of the loop."""
    checker = Checker(Options())
    checker.open([str(file)])
    inspection = checker.inspect()
    program = inspection.program
    found = prove(program, violations(program, property_), "main", LP64, PredicateOptions(seconds=60.0))
    assert isinstance(found, Proved)
    lines = {}
    for location, text in invariants(program, found.annotation, "main", LP64).items():
        edge = min(edge.id for edge in program.functions["main"].outgoing[location])
        lines[inspection.places.place("main", edge).range.start.line] = text
    return lines


@pytest.mark.parametrize("name", PROGRAMS)
def test_invariants_hold_on_every_run(name: str, tmp_path: Path) -> None:
    property_, text, expected = PROGRAMS[name]
    source, program = tmp_path / "p.c", tmp_path / "p"
    source.write_text(HEAD + text)
    said = invariants_of(source, property_)
    assert said
    assert expected <= {part for one in said.values() for part in one.split(" && ")}
    lines = source.read_text().splitlines()
    for line, invariant in said.items():
        assert "/*HERE*/" in lines[line - 1]
        lines[line - 1] = lines[line - 1].replace("/*HERE*/", f"({{ if (!({invariant})) __builtin_abort(); 1; }}) &&")
    inputs = "#include <stdlib.h>\nint main(int, char **); static char **given;\n"
    inputs += "int __VERIFIER_nondet_int(void) { return atoi(given[1]); }\n"
    inputs += "unsigned __VERIFIER_nondet_uint(void) { return atoi(given[1]); }\n"
    inputs += "int tested(void);\nint main(int argc, char **argv) { given = argv; tested(); return 0; }\n"
    source.write_text(inputs + "\n".join(lines).replace("int main(void)", "int tested(void)"))
    subprocess.run(["gcc", "-std=gnu11", "-w", "-fwrapv", "-o", program, source], check=True)
    draw = Random(name)
    for _ in range(_RUNS):
        value = str(draw.choice([draw.randint(-60, 60), draw.getrandbits(32) - (1 << 31)]))
        assert subprocess.run([program, value], check=False).returncode == 0, (value, said)
