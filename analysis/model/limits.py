"""Bounds on every input (DESIGN.md section 13). Going over one is a message, or an `unknown` with its reason."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Sizes in bytes, times in seconds, depths and counts as they are."""

    source_bytes: int = 16_000_000
    preprocessed_bytes: int = 64_000_000
    preprocess_seconds: float = 20.0
    nesting: int = 500
    configurations: int = 4_000_000
    trace_steps: int = 200
    rule_file_bytes: int = 256_000
