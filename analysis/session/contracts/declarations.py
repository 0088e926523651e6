"""The declarations of functions as they are written: with their typedefs, qualifiers and the names of parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from analysis.cfa.graph import FunctionSource
from analysis.session.units.unit_view import UnitView

_LONGEST = 300  # characters
_MOST_LOOKS = 50  # at places with the name of a function
_FAR = 2000  # bytes around such a place
_ODD = ("/*", "//", "__attribute__", "__extension__", "__asm")  # what makes a declaration long, or hides its end
_LEFT_OUT = frozenset(("extern", "__restrict", "restrict", "__extension__", "__inline", "register"))
_STATEMENTS = frozenset(("return", "else", "do", "goto", "case", "typedef", "sizeof"))
_QUALIFIERS = frozenset(("const", "volatile", "struct", "union", "enum"))
_TYPES = _QUALIFIERS | {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned"}
_TOKEN = re.compile(r"\w+|\.\.\.|\S")


class Declarations:
    """The declarations of the functions of one revision. `sources` says where they are in the units' texts."""

    def __init__(self, units: Sequence[UnitView], sources: Mapping[str, FunctionSource]) -> None:
        self._texts = {unit.path: unit.built.preprocessed.text for unit in units}
        self._sources = sources

    def of(self, name: str) -> str:
        """The declaration of a function, given by its linkage name, up to its body; empty where it cannot be shown."""
        source = self._sources.get(name)
        text = None if source is None else self._texts.get(source.unit)
        if source is None or text is None:
            return ""
        body = text.find(b"{", source.start + source.name_site.end)
        return "" if body < 0 else in_one_line(text[source.start : body].decode("utf-8", "replace"))

    def of_external(self, name: str, path: str = "") -> str:
        """How a function that the program does not define is declared, of the file at `path` rather than of others; empty where
        that cannot be shown."""
        texts = [self._texts[path]] if path in self._texts else list(self._texts.values())
        return next(filter(None, (_declared(name.encode("utf-8", "replace"), text) for text in texts)), "")


def _declared(name: bytes, text: bytes) -> str:
    """The first declaration of a function in a preprocessed text that is understood."""
    at = text.find(name)
    for _ in range(_MOST_LOOKS):
        if at < 0:
            break
        begin, end = _begin(text, at), text.find(b";", at, at + _FAR)
        shown = external(text[begin:end].decode("utf-8", "replace"), name.decode("utf-8", "replace")) if end >= 0 else ""
        if shown:
            return shown
        at = text.find(name, at + 1)
    return ""


def _begin(text: bytes, at: int) -> int:
    """Where the declaration begins that a place is in: behind the one before it, or behind a line of the preprocessor's."""
    first = max(at - _FAR, 0)
    marker = text.rfind(b"\n#", first, at)
    line_end = first - 1 if marker < 0 else text.find(b"\n", marker + 1)
    return max(line_end, *(text.rfind(end, first, at) for end in (b";", b"}", b"{"))) + 1


def external(text: str, name: str) -> str:
    """A declaration of a function without what headers add for compilers: `extern`, attributes, and the underscores before the
    names of parameters. Empty if the text is none."""
    tokens = _TOKEN.findall(in_one_line_as_written(text))
    if tokens.count(name) == 0 or tokens[-1:] == ["{"]:
        return ""
    at = tokens.index(name)
    before, behind = [one for one in tokens[:at] if one not in _LEFT_OUT], tokens[at + 1 :]
    is_type = all(one == "*" or one.isidentifier() for one in before) and bool(before) and _STATEMENTS.isdisjoint(before)
    close = _closing(behind)
    if not is_type or close is None or not all(one.startswith("_") for one in behind[close + 1 : close + 2]):
        return ""
    parameters = [_plain(one) for one in behind[1:close] if one not in _LEFT_OUT]
    shown = in_one_line(" ".join([*map(_plain, before), name, "(", *parameters, ")"]))
    return shown.replace(f"{name} (", f"{name}(").replace(") (", ")(").replace(" [", "[")


def _closing(tokens: Sequence[str]) -> int | None:
    """Where the parenthesis ends that tokens begin with."""
    depth = 0
    for number, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0:
            return number if token == ")" else None
    return None


def _plain(token: str) -> str:
    """A name of a header of the system's as the manual has it."""
    return "va_list" if token in ("__gnuc_va_list", "__builtin_va_list") else token.removeprefix("__")


def in_one_line_as_written(text: str) -> str:
    """A text without line ends, and without what the preprocessor says of lines."""
    return " ".join(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def in_one_line(text: str) -> str:
    """A declaration in one line; empty if it is odd or too long."""
    bare = in_one_line_as_written(text)
    for tight, loose in (("(", "( "), (")", " )"), (",", " ,"), ("*", "* ")):
        bare = bare.replace(loose, tight)
    is_odd = len(bare) > _LONGEST or bare.count("(") != bare.count(")") or any(one in bare for one in _ODD)
    return "" if is_odd else bare


def parameter_names(declaration: str) -> list[str]:
    """The names of the parameters of a function in a declaration that `external` made, each empty if it has none."""
    inside = declaration[declaration.find("(") + 1 : declaration.rfind(")")]
    if "(" in inside or "[" in inside:
        return []
    return [_name(one) for one in inside.split(",")]


def _name(parameter: str) -> str:
    """The last word of a parameter, if others stand before it that can be its type."""
    found = [one for one in _TOKEN.findall(parameter) if one.isidentifier()]
    before = [one for one in found[:-1] if one not in _QUALIFIERS]
    return found[-1] if before and found[-1] not in _TYPES else ""
