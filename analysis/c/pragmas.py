"""What pragmas may change: a list of those that are understood (GCC manual, "Pragmas Accepted by GCC"; C11 6.10.6). Those about
the layout of records are not among them: `c.layout_attributes` reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

_HARMLESS = re.compile(
    rb"(?:once\b|message\b|(?:push|pop)_macro\b|region\b|endregion\b|mark\b|warning\b|clang\s+(?:diagnostic|system_header)\b"
    rb"|GCC\s+(?:diagnostic|system_header|poison|dependency|warning|error|visibility|ivdep|unroll|push_options|pop_options"
    rb"|reset_options|optimize\s*+\(?+\s*+\"?+O[0-3s]\"?+\s*+\)?+\s*+\Z)|STDC\s+(?:FENV_ACCESS|FP_CONTRACT)\s+(?:OFF|DEFAULT)\b|unroll\b|ident\b)"
)
_WEAK_PRAGMA = re.compile(rb"weak\s++(\w++)\s*+(?>(?:=\s*+(\w++))?)\s*+\Z")
_RENAMING = re.compile(rb"redefine_extname\s++(\w++)\s++(\w++)\s*+\Z")


class Pragma(NamedTuple):
    """What a pragma says: `weak` is a function or variable that another one may take the place of, `renamed` two names for one
    thing. `strange` says that it is not understood."""

    weak: str = ""
    renamed: tuple[str, str] | None = None
    strange: str = ""


def pragma(text: bytes) -> Pragma:
    """What a pragma says, by what stands behind the word `pragma`, without spaces around it. An empty text says nothing."""
    if not text or _HARMLESS.match(text):
        return Pragma()
    if (weak := _WEAK_PRAGMA.match(text)) is not None:
        name, target = weak.group(1).decode(), weak.group(2)
        return Pragma(weak=name) if target is None else Pragma(weak=name, renamed=(name, target.decode()))
    if (renaming := _RENAMING.match(text)) is not None:
        return Pragma(renamed=(renaming.group(1).decode(), renaming.group(2).decode()))
    return Pragma(strange="pragma " + " ".join(text.decode("utf-8", "replace").split()[:2]))
