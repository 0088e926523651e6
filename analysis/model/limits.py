"""Bounds on every input (invariant I16; docs/limits.md lists them). Going over one is a message, or an
`unknown` with its reason."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

SETTINGS_BYTES = 256_000
"""Of `.everproof.toml`."""
DATABASE_BYTES = 64_000_000
"""Of a compile_commands.json."""
BASELINE_BYTES = 64_000_000
CERTIFICATE_BYTES = 64_000_000
WITNESS_BYTES = 4_000_000
"""YAML takes long to read: a second for each of these megabytes, or more."""
SARIF_BYTES = 32_000_000
"""Of a report that an editor opens."""
SARIF_FINDINGS = 20_000
SARIF_OBJECTS = 500_000
HANDED_OVER_BYTES = 64_000_000
"""Of a file that `everproof cache export` writes."""
HANDED_OVER_UNPACKED = 256_000_000
PROOF_BYTES = 4_000_000
EARLIER_DECISIONS = 2_000
TOKENS = 3_300_000
"""Words and signs of one file, its headers with it: what a parse tree takes memory for."""
RECORD_LEVELS = 200
"""Records inside records (C11 5.2.4.1 demands 63)."""
TYPE_PARTS = 1_000
"""Pointers, arrays, functions and parameters in one type, those of the types that it names with them."""
TYPE_LEVELS = 100
"""Pointers, arrays and functions around each other in one type (C11 5.2.4.1 demands 12)."""
OPERAND_LEVELS = 50
"""`typeof` and the like in each other: each level is a text, and a tree, of its own."""
OPERAND_BYTES = 20_000
"""From the opening parenthesis of one of these to the closing one."""
RULE_FILES = 1_000
"""In one folder of rules, or of contracts."""
CONTRACTS = 10_000
"""In one file."""
YAML_LEVELS = 50
"""Lists and tables in each other."""


LONGEST = 86_400
"""Seconds that anything can be given: a day."""
Seconds = Annotated[float, Meta(gt=0, le=LONGEST)]
Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]


class Limits(msgspec.Struct, frozen=True):
    """Sizes in bytes, times in seconds, depths and counts as they are.

    `preprocess_seconds` is for all runs of the preprocessor on one text, and its processor time;
    `preprocess_megabytes` is the memory of each of its processes.
    `global_edges`: a global's initial value is followed from the program's start only when the functions that can see
    the global have no more edges than this in all; in a larger program, what happens before the first assignment is
    not checked. `task_megabytes`: what a prover may take for one question. `task_seconds` to decide one finding,
    `proof_seconds` to prove one rule in one function, `program_seconds` for a question about the whole program,
    `total_seconds` for all but findings: None: the named budget decides (`budgets`). `configurations` None: by the size of the
    program (`configurations_of`).
    """

    source_bytes: Annotated[int, Meta(ge=1, le=256_000_000)] = 16_000_000
    preprocessed_bytes: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 64_000_000
    preprocess_seconds: Annotated[float, Meta(gt=0, le=600)] = 10.0
    preprocess_megabytes: Annotated[int, Meta(ge=50, le=100_000)] = 700
    nesting: Annotated[int, Meta(ge=1, le=500)] = 500
    configurations: Count | None = None
    trace_steps: Annotated[int, Meta(ge=1, le=100_000)] = 200
    global_edges: Count = 2_000
    rule_file_bytes: Annotated[int, Meta(ge=1, le=16_000_000)] = 256_000
    task_seconds: Seconds | None = None
    task_megabytes: Annotated[int, Meta(ge=50, le=100_000)] = 1_000
    proof_seconds: Seconds | None = None
    program_seconds: Seconds | None = None
    total_seconds: Seconds | None = None

    def configurations_of(self, edges: int) -> int:
        """How large the derivation graph of a program with so many edges can become. Of 14 real programs that were measured, it
        has 2 to 11 configurations an edge."""
        return self.configurations or min(200_000 + 50 * edges, 4_000_000)
