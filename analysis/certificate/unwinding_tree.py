"""What a proof by unwinding claims (`certificate.unwinding` checks it)."""

from __future__ import annotations

import msgspec


class Unwinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is claimed: no run that starts at `entry`, which is `main`, violates any of the `rules`; and the tree of its paths.

    `taken` has, for each place at which a path branches, depth first, which branches are possible, as bits (the first
    is bit 0). `edges` is the length of all paths together, what they have in common counted once. `allocation_fails`,
    `outside_writes`: what is not assumed to be excluded."""

    entry: str
    rules: tuple[str, ...]
    taken: tuple[int, ...]
    edges: int
    allocation_fails: bool = True
    outside_writes: bool = True
