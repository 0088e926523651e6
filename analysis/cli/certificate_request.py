"""What the process that checks a certificate is asked; apart, so that who asks does not load what checks (the solver)."""

from __future__ import annotations

import msgspec

from analysis.model.options import Options


class Request(msgspec.Struct, frozen=True):
    """The certificate's file, the paths of the program, and how it is compiled."""

    certificate: str
    paths: tuple[str, ...]
    options: Options
