"""The request to the process that checks a certificate. It has a module of its own, so that the process that
asks does not load the checker and its solver."""

from __future__ import annotations

import msgspec

from analysis.c.undefined import CertifiedRule
from analysis.certificate.loop_invariant import LoopInvariant
from analysis.model.options import Options


class WitnessRequest(msgspec.Struct, frozen=True):
    """The invariants of a correctness witness, in the place of a certificate, and the property that they are to prove."""

    rule: CertifiedRule
    invariants: tuple[LoopInvariant, ...]


class Request(msgspec.Struct, frozen=True):
    """The certificate's file, the paths of the program, and how it is compiled. `made_for`: the version of the program that the
    certificate is about, if the program is a later one. `witness`: what is claimed, where there is no certificate."""

    certificate: str
    paths: tuple[str, ...]
    options: Options
    made_for: str | None = None
    witness: WitnessRequest | None = None
