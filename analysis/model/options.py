"""What a check is asked to do. One module for all options, so that none hides elsewhere."""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.model.budgets import BudgetName
from analysis.model.limits import Limits
from analysis.model.symbolic_operators import SymbolicOperators

Engine = Literal["auto", "automaton", "predicate", "summary", "symbolic", "value"]
Encoding = Literal["auto", "int", "bv", "lra", "euf"]
Reuse = Literal["annotations", "precisions", "none"]
Show = Literal["likely", "all"]
UNWIND = 5
MOST_ROUNDS = 1_000
LIGHT: tuple[Encoding, ...] = ("lra", "euf")
"""Those that only the engine "summary" has."""
Assumption = Literal["allocations-succeed", "externals-keep-globals"]


class CompilerFlags(msgspec.Struct, frozen=True):
    """Preprocessor flags for files that no compile_commands.json knows, in the order given."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None


class Options(msgspec.Struct, frozen=True):
    """Options of one session. Paths are absolute, or relative to the current folder.

    `compiler` None: the first of gcc, clang, cc on PATH; "none": do not preprocess. `rules` empty: the shipped default set and
    the user's. `entries` empty: `main` if there is one, and every function that nobody calls. `functions_dirs` hold contracts of
    functions that the project calls and does not define.
    `trusted` False: no compiler is run (an untrusted workspace).
    `engine`: "automaton" leaves findings as `possible`; "auto" has all provers decide them, in turn, another name only that one.
    "summary" is not among all: it answers about runs within a bound, `unwind`. A loop goes back at most so often, each time that
    it is entered, and a function is active at most so often at once.
    `encoding`: how proofs see integers, mathematically or as bits; "auto": the one, then the other. The engine "summary" also has
    linear real arithmetic and equality of uninterpreted functions. `reuse`: what the engine "predicate", asked alone, takes from
    the proof of the revision before. `operators`: of the engine "symbolic", only proofs by refinement are tried, with these.
    `budget` is what provers may take. `proofs`: functions are proved, too: those in files with unsaved texts (which an editor has
    open), and edited ones; with `everywhere`, all of them.
    `verdicts`: what is proved of single functions and rules is of interest, not only what runs find.
    `assume` are assumptions that provers may make. `certificates`: those of all proofs are kept.
    `show`: which findings are shown; the others are held back, and counted (`analysis.session.scores`).
    """

    flags: CompilerFlags = CompilerFlags()
    compile_commands: str | None = None
    compiler: str | None = None
    data_model: Literal["LP64", "ILP32"] = "LP64"
    entries: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    rules_dirs: tuple[str, ...] = ()
    functions_dirs: tuple[str, ...] = ()
    trusted: bool = True
    engine: Engine = "auto"
    encoding: Encoding = "auto"
    unwind: int = UNWIND
    operators: SymbolicOperators | None = None
    reuse: Reuse = "annotations"
    budget: BudgetName = "full"
    proofs: bool = False
    everywhere: bool = False
    verdicts: bool = True
    assume: tuple[Assumption, ...] = ()
    certificates: bool = False
    show: Show = "likely"
    limits: Limits = Limits()
