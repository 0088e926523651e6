"""What the declarations of a file say of its names beyond their types (C11 6.2.2, 6.7.4, 6.9; GCC manual, "Weak Pragmas",
"Controlling Names Used in Assembler Code", "Function Attributes").

Linking needs all files for what this means: which of several definitions prevails (`is_decided`, `strength`), which names are of
one object, what runs before `main` (`cfa.linking`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from analysis.c.attributes import DeclarationAttributes
from analysis.c.pragmas import Pragma

_VERSION = r"__(?:isoc[0-9]+_|xpg_|posix_|sysv_)?{0}(?:64|_time64)?|{0}(?:64|_time64)"


class Label(msgspec.Struct, frozen=True):
    """A linkage name that is another one for the assembler. `is_library`: a library declares it so, to have another version
    of the function that it names (`scanf` is `__isoc99_scanf`). Nothing of the program is under that name then, unless somebody
    else means it, too (`cfa.linking.labels`)."""

    name: str
    symbol: str
    is_library: bool


class FileLinkage(msgspec.Struct):
    """What a file says, by linkage name. `weak`, `inlined` and `strange` have the reason: another definition may take the place
    of this one; it is for inlining only, and another file may have the one that counts; an attribute is not understood.
    `external` are functions that are declared without `inline`, or with `extern`. `noreturn` are those that are said not to
    return, `pure` those that are said to do nothing but to return a value, `const` those whose value depends on nothing but
    arguments. `starts`: why code runs before or after `main`.
    `everywhere`: why nothing of the program is understood. `here`: why no function of this file is. `doubtful`: names of
    which it is not known what they stand for in this file."""

    weak: dict[str, str] = {}
    inlined: dict[str, str] = {}
    external: dict[str, bool] = {}
    noreturn: dict[str, bool] = {}
    pure: dict[str, bool] = {}
    const: dict[str, bool] = {}
    strange: dict[str, str] = {}
    labels: list[Label] = []
    starts: dict[str, bool] = {}
    everywhere: dict[str, bool] = {}
    here: dict[str, bool] = {}
    doubtful: dict[str, str] = {}

    @property
    def by_name(self) -> tuple[dict[str, Any], ...]:
        """What is said of single names, in tables by linkage name."""
        return self.weak, self.inlined, self.external, self.noreturn, self.pure, self.const, self.strange

    @property
    def of_the_file(self) -> tuple[dict[str, Any], ...]:
        """What is said of the file as a whole, in tables by reason; `doubtful` too, which linking adds to."""
        return self.starts, self.everywhere, self.here, self.doubtful

    @property
    def yielding(self) -> dict[str, str]:
        """Returns the names, with reasons, whose definition in this file gives way to a definition in another file."""
        inlined = {name: reason for name, reason in self.inlined.items() if name not in self.external}
        return inlined | self.weak

    @property
    def open(self) -> frozenset[str]:
        """The names that may stand for something else than what the file says, or for nothing."""
        return frozenset((*self.weak, *self.strange, *(label.name for label in self.labels if not label.is_library)))

    def declare(self, name: str, written: str, said: DeclarationAttributes, *, is_system: bool, is_function: bool) -> None:
        """Takes in what attributes say of a name; `written` is the name as the file has it."""
        if said.starts:
            self.starts[said.starts] = True
        if said.yields == "attribute gnu_inline":
            self.inlined[name] = said.yields
        elif said.yields:
            self.weak[name] = said.yields
        if said.pure:
            self.pure[name] = True
        if said.const:
            self.const[name] = True
        if said.strange:
            self.strange[name] = said.strange
        for label in said.labels:
            if label != written:
                self.labels.append(Label(name, label, is_system or (is_function and _is_version(label, written))))

    def define_function(self, name: str, storage: Iterable[str], *, is_static: bool) -> None:
        """Takes in a declaration or definition of a function: one that is `inline` in all of them, and `extern` in none, is no
        definition for other files (C11 6.7.4p7)."""
        if is_static:
            self.external[name] = True
        elif "inline" in storage and "extern" not in storage:
            self.inlined.setdefault(name, "an inline definition")
        elif self.inlined.get(name) != "attribute gnu_inline":
            self.external[name] = True

    def read_pragmas(self, pragmas: Iterable[tuple[Pragma, bool]]) -> None:
        """Takes in the pragmas of a file, each with whether it is in a system header."""
        for found, is_system in pragmas:
            if found.weak:
                self.weak[found.weak] = "pragma weak"
            if found.renamed is not None:
                self.labels.append(Label(*found.renamed, is_library=is_system))
            if found.strange and not is_system:
                self.here[found.strange] = True


def _is_version(symbol: str, name: str) -> bool:
    """Whether a name is one that libraries give to another version of a function. Preprocessed text need not tell that it is from
    a header of theirs."""
    return re.fullmatch(_VERSION.format(re.escape(name)), symbol) is not None


Strength = Literal[0, 1, 2]


def strength(*, initialised: bool, tentative: bool) -> Strength:
    """How strong a declaration of a variable is: a definition with an initialiser counts before a tentative one, and that before
    what is no definition (C11 6.9.2)."""
    return 2 if initialised else 1 if tentative else 0


class Body(NamedTuple):
    """A definition of a function: a digest of what it does, and whether it yields to another one."""

    digest: str
    yields: bool


def is_decided(bodies: Sequence[Body], *, is_weak: bool) -> bool:
    """Whether it is known which of some definitions of one function counts, of which one yields at least. Of weak ones it is
    the one that is not weak. Of one for inlining only and another one either may be called (C11 6.7.4p7)."""
    is_defined = any(not body.yields for body in bodies)
    return is_defined and (is_weak or len({body.digest for body in bodies}) == 1)


def differ(bodies: Sequence[Body]) -> bool:
    """Whether several definitions of one function do different things: C leaves it undefined which counts (C11 6.9p5)."""
    return len({body.digest for body in bodies}) > 1
