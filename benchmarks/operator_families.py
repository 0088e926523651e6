"""Where each operator of symbolic execution pays ([SYMCEGAR] section 7): families of programs that grow with a number.

    python -m benchmarks.operator_families [--sizes N ...] [NAME ...]

Each program is safe, and is given to `everproof check --engine symbolic --symbolic-options ...` with each set of operators; by
default one operator is changed at a time. A cell says how many abstract states the proof took, and how many questions to the
solver; `-` where nothing was proved within the budget, which counts work.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from analysis.model.symbolic_operators import SymbolicOperators
from benchmarks.symbolic_cegar import configurations

_HEAD = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n"
_USUAL = SymbolicOperators()
_FURTHER = (SymbolicOperators(by="conditions"), SymbolicOperators(restart="full"))


def branches(size: int) -> str:
    """One branch decides, and so many others in between do not."""
    others = "\n".join(f"    if (__VERIFIER_nondet_int()) sum = sum + {1 << number};" for number in range(size))
    return f"""int main(void) {{
    int a = __VERIFIER_nondet_int(), sum = 0;
    if (a) return 0;
{others}
    if (a) reach_error();
    return sum;
}}
"""


def steps(size: int) -> str:
    """Each branch adds 1 or 2, and the sum matters."""
    each = "\n".join("    if (__VERIFIER_nondet_int()) sum = sum + 1; else sum = sum + 2;" for _ in range(size))
    return f"int main(void) {{\n    int sum = 0;\n{each}\n    if (sum > {2 * size}) reach_error();\n    return 0;\n}}\n"


def machine(size: int) -> str:
    """A loop over the states of a machine, the last of which sets a flag."""
    cases = "\n".join(
        f"        case {at}: if (__VERIFIER_nondet_int()) state = {at + 1}; else state = 0; break;" for at in range(size)
    )
    return f"""int main(void) {{
    int state = 0, done = 0;
    while (__VERIFIER_nondet_int()) {{
        switch (state) {{
{cases}
        default: done = 1;
        }}
        if (done && state != {size}) reach_error();
    }}
    return 0;
}}
"""


def locks(size: int) -> str:
    """A loop that takes so many locks, each if its own condition holds, and gives them back."""
    given = "\n".join(f"        int p{n} = __VERIFIER_nondet_int(), lock{n} = 0;" for n in range(size))
    taken = "\n".join(f"        if (p{n}) lock{n} = 1;" for n in range(size))
    back = "\n".join(f"        if (p{n}) {{ if (lock{n} != 1) reach_error(); lock{n} = 0; }}" for n in range(size))
    return f"int main(void) {{\n    while (__VERIFIER_nondet_int()) {{\n{given}\n{taken}\n{back}\n    }}\n    return 0;\n}}\n"


def inputs(size: int) -> str:
    """A loop that reads so many numbers anew each time: the states of two rounds differ by the names of unknown values alone."""
    read = "\n".join(f"        x{n} = __VERIFIER_nondet_int(); if (x{n} < 0) x{n} = 0;" for n in range(size))
    some = " || ".join(f"x{n} < 0" for n in range(size))
    names = ", ".join(f"x{n} = 0" for n in range(size))
    return f"""int main(void) {{
    int {names};
    while (__VERIFIER_nondet_int()) {{
{read}
        if ({some}) reach_error();
    }}
    return 0;
}}
"""


FAMILIES: dict[str, Callable[[int], str]] = {one.__name__: one for one in (branches, steps, machine, locks, inputs)}


class Cost(NamedTuple):
    """What a proof took: abstract states, and questions to the solver."""

    states: int
    questions: int

    def __str__(self) -> str:
        return f"{self.states}, {self.questions}"


class _Counted(msgspec.Struct):
    recomputed: int


class _Work(msgspec.Struct):
    abstract_states: _Counted
    solver_queries: int


class _Verdict(msgspec.Struct):
    verdict: str


class _Function(msgspec.Struct):
    name: str
    verdicts: dict[str, _Verdict]


class _Report(msgspec.Struct):
    work: _Work
    functions: list[_Function]


def cost(file: Path, operators: SymbolicOperators) -> Cost | None:
    """What the command says of the function main of a program; None if it proves nothing."""
    command = [sys.executable, "-m", "analysis.cli", "check", "--engine", "symbolic", "--rule", "assertion", "--format", "json"]
    command += ["--symbolic-options", ",".join(operators.words), "--store", "none", "--jobs", "1"]
    done = subprocess.run([*command, str(file)], capture_output=True, check=False)
    report = msgspec.json.decode(done.stdout, type=_Report)
    (found,) = (one.verdicts["assertion"] for one in report.functions if one.name == "main")
    if found.verdict != "safe":
        return None
    return Cost(report.work.abstract_states.recomputed, report.work.solver_queries)


def changed(operators: SymbolicOperators) -> str:
    """What differs from the usual operators."""
    return ", ".join(word for word in operators.words if word not in _USUAL.words) or "as usual"


def table(name: str, sizes: Sequence[int]) -> Iterator[str]:
    """The rows of a family."""
    yield f"| {name} | {' | '.join(map(str, sizes))} |"
    yield f"|---{'|---' * len(sizes)}|"
    with tempfile.TemporaryDirectory() as folder:
        for operators in (*configurations(everything=False), *_FURTHER):
            cells = []
            for size in sizes:
                file = Path(folder) / f"{name}{size}.c"
                file.write_text(_HEAD + FAMILIES[name](size))
                cells.append(str(cost(file, operators) or "-"))
            yield f"| {changed(operators)} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operator_families", description="SYMCEGAR's section 7.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"families (default: all): {', '.join(FAMILIES)}")
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 6, 9], metavar="N", help="default: 3 6 9")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - FAMILIES.keys())
    if unknown:
        parser.error(f"there is no family {unknown[0]}: there are {', '.join(FAMILIES)}")
    for name in given.names or FAMILIES:
        for row in table(name, given.sizes):
            print(row, flush=True)
        print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
