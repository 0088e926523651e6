"""What a check is asked to do. One module for all options, so that none hides elsewhere."""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.model.limits import Limits


class CompilerFlags(msgspec.Struct, frozen=True):
    """Preprocessor flags for files that no compile_commands.json knows, in the order given."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None


class Options(msgspec.Struct, frozen=True):
    """Options of one session. Paths are absolute, or relative to the current folder.

    `compiler` None: the first of gcc, clang, cc on PATH; "none": do not preprocess. `rules` empty: the shipped default set and
    the user's. `entries` empty: `main` if there is one, else every function that nobody calls.
    `trusted` False: no compiler is run (an untrusted workspace).
    `engine`: "automaton" leaves findings as `possible`; "auto" has provers decide them. `proofs`: functions in files with unsaved
    texts (those that an editor has open), and edited ones, are proved in the background, too.
    """

    flags: CompilerFlags = CompilerFlags()
    compile_commands: str | None = None
    compiler: str | None = None
    data_model: Literal["LP64", "ILP32"] = "LP64"
    entries: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    rules_dirs: tuple[str, ...] = ()
    trusted: bool = True
    engine: Literal["auto", "automaton"] = "auto"
    proofs: bool = False
    limits: Limits = Limits()
