"""Bounds on every input (DESIGN.md section 13). Going over one is a message, or an `unknown` with its reason."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Sizes in bytes, times in seconds, depths and counts as they are.

    `global_edges`: a global's initial value is followed from the program's start only when the functions that can see the global
    have no more edges than this in all; in a larger program, what happens before the first assignment is not checked.
    `task_seconds` and `task_megabytes`: what a prover may take to decide one finding; `proof_seconds`: to prove one rule in one
    function, in the background.
    """

    source_bytes: int = 16_000_000
    preprocessed_bytes: int = 64_000_000
    preprocess_seconds: float = 20.0
    nesting: int = 500
    configurations: int = 4_000_000
    trace_steps: int = 200
    global_edges: int = 2_000
    rule_file_bytes: int = 256_000
    task_seconds: float = 5.0
    task_megabytes: int = 1_000
    proof_seconds: float = 4.0
