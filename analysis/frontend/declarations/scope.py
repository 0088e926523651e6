"""What names mean: the declarations of a file, and of the blocks inside a function.

A function's lowering looks names up through `Names`, which remembers every file-level answer it got. Those answers,
with the function's own text, are all that its CFA depends on; so a function can keep its CFA after an edit
to the declarations above it when the answers are the same (invariant I5).
"""

from __future__ import annotations

import msgspec

from analysis.frontend.declarations.volatile import NONE, Levels
from analysis.model import ir
from analysis.model.c_types import RecordDefinition, Type


class TypedefEntry(msgspec.Struct, frozen=True):
    """A name for a type; `volatile` are the levels (see `frontend.declarations.volatile`) of what is declared with it.
    `is_aligned`: by an
    attribute it has another alignment than its type."""

    type: Type
    volatile: Levels = NONE
    is_aligned: bool = False


class ConstantEntry(msgspec.Struct, frozen=True):
    """An enumeration constant; without `constant`, its value or its type is not known."""

    constant: ir.IntConst | None


class ObjectEntry(msgspec.Struct, frozen=True):
    """A variable or a function; `noreturn` says that a call to the function does not come back, `volatile` are the variable's
    levels (see `frontend.declarations.volatile`). `open`: linking tells what the name stands for
    (`analysis.c.linkage`), so that no use of
    it may be lost."""

    var: ir.Var
    noreturn: bool = False
    volatile: Levels = NONE
    open: bool = False


class Strange(msgspec.Struct, frozen=True):
    """What of a record's attributes is not understood (`c_types.RecordDefinition.strange`)."""

    reason: str


Entry = TypedefEntry | ConstantEntry | ObjectEntry
Answer = Entry | Type | RecordDefinition | Strange | None


class FileScope:
    """The declarations of one translation unit outside functions. `tags` are by "struct t", "union t", "enum t"."""

    def __init__(self) -> None:
        self.names: dict[str, Entry] = {}
        self.tags: dict[str, Type] = {}
        self.records: dict[str, RecordDefinition] = {}


class Names:
    """Names as one function sees them: its blocks' declarations, innermost first, then the file's.

    `used` maps ("name" | "tag" | "record" | "strange", what) to the file-level answer; `records` are those declared in the
    function, `given` the unique names of its variables. `blocks` has where each variable was `placed`: the blocks around it, by
    number, outermost first, without the function's own.
    """

    def __init__(self, file: FileScope, function: str | None) -> None:
        self.file = file
        self.function = function
        self.used: dict[tuple[str, str], Answer] = {}
        self.records: dict[str, RecordDefinition] = {}
        self._names: list[dict[str, Entry]] = []
        self._tags: list[dict[str, Type]] = []
        self._counts: dict[str, int] = {}
        self.given: list[str] = []
        self.blocks: dict[str, tuple[int, ...]] = {}
        self._open: list[int] = []
        self._opened = 0

    @property
    def at_file_level(self) -> bool:
        """Whether declarations go to the file scope."""
        return not self._names

    def enter(self) -> None:
        """Opens a block."""
        self._names.append({})
        self._tags.append({})
        self._opened += 1
        self._open.append(self._opened)

    def leave(self) -> None:
        """Closes the innermost block."""
        self._names.pop()
        self._tags.pop()
        self._open.pop()

    def level(self) -> int:
        """How many blocks are open."""
        return len(self._names)

    def unwind(self, level: int) -> None:
        """Closes blocks until `level` are open."""
        del self._names[level:]
        del self._tags[level:]
        del self._open[level:]

    def around(self) -> tuple[int, ...]:
        """The blocks that are open, by number, outermost first, without the function's own."""
        return tuple(self._open[1:])

    def place(self, name: str, *, above: int = 0) -> None:
        """Notes that a variable lives as long as the innermost block runs (C11 6.2.4p5), or one that is so many `above` it."""
        self.blocks[name] = tuple(self._open[1 : len(self._open) - above])

    def lookup(self, name: str) -> Entry | None:
        """What an ordinary identifier means here."""
        for block in reversed(self._names):
            found = block.get(name)
            if found is not None:
                return found
        answer = self.file.names.get(name)
        self.used[("name", name)] = answer
        return answer

    def local(self, name: str) -> bool:
        """Whether a block of the function declares the name."""
        return any(name in block for block in self._names)

    def declare(self, name: str, entry: Entry) -> None:
        """Gives a name its meaning in the innermost block."""
        (self._names[-1] if self._names else self.file.names)[name] = entry

    def declare_outermost(self, name: str, entry: Entry) -> None:
        """Gives a name its meaning for the rest of the function: an implicitly declared function."""
        (self._names[0] if self._names else self.file.names)[name] = entry

    def unique(self, name: str) -> str:
        """A name for a local variable that no other variable of the function has (model.ir.Var)."""
        count = self._counts.get(name, 0) + 1
        self._counts[name] = count
        self.given.append(name)
        return name if count == 1 else f"{name}~{count}"

    def mark(self) -> int:
        """A point to `reset` to."""
        return len(self.given)

    def reset(self, mark: int) -> None:
        """Forgets the unique names given out since `mark`, so that what is lowered twice gets the same names."""
        while len(self.given) > mark:
            self._counts[self.given.pop()] -= 1

    def tag(self, tag: str) -> Type | None:
        """The type that a tag such as "struct s" names here."""
        for block in reversed(self._tags):
            found = block.get(tag)
            if found is not None:
                return found
        answer = self.file.tags.get(tag)
        self.used[("tag", tag)] = answer
        return answer

    def tag_here(self, tag: str) -> Type | None:
        """The type that a tag names in the innermost block itself."""
        if not self._tags:
            return self.file.tags.get(tag)
        return self._tags[-1].get(tag)

    def declare_tag(self, tag: str, type_: Type) -> None:
        """Gives a tag its type in the innermost block."""
        (self._tags[-1] if self._tags else self.file.tags)[tag] = type_

    def record_key(self, tag: str) -> str:
        """The key of a record that is declared here under a tag: tags of functions are kept apart by the function's name."""
        if not self._tags:
            return tag
        key = self.unique(f"{tag}@{self.function}")
        return key

    def define(self, definition: RecordDefinition) -> None:
        """Notes the members of a record."""
        (self.records if self._tags else self.file.records)[definition.key] = definition

    def record(self, key: str) -> RecordDefinition | None:
        """The members of a record, None when it is incomplete."""
        found = self.records.get(key)
        if found is not None:
            return found
        answer = self.file.records.get(key)
        self.used[("record", key)] = answer
        return answer

    def strange(self, key: str) -> str:
        """What of a record's attributes is not understood; its members may change without changing this answer."""
        found = self.records.get(key)
        if found is not None:
            return found.strange
        answer = self.used[("strange", key)] = _strange(self.file, key)
        return "" if answer is None else answer.reason

    def still_answers(self, used: dict[tuple[str, str], Answer]) -> bool:
        """Whether the file scope gives the same answers that another lowering got."""
        return all(_file_answer(self.file, kind, what) == answer for (kind, what), answer in used.items())


def _file_answer(file: FileScope, kind: str, what: str) -> Answer:
    if kind == "name":
        return file.names.get(what)
    if kind == "strange":
        return _strange(file, what)
    return file.tags.get(what) if kind == "tag" else file.records.get(what)


def _strange(file: FileScope, key: str) -> Strange | None:
    found = file.records.get(key)
    return Strange(found.strange) if found is not None and found.strange else None
