"""What library functions do: one record for each, read from the tables `library_c`, `library_posix` and `library_others`.

A row has five columns: names | arguments | result | besides | where it is described. It says all that the function does: what a
row leaves out, the function does not do. (`open` and some other words in the column *besides* say that it does more than the row
can say.) A function without a row is an unknown external function: it may do anything.

*Arguments*, a word for each, or several words joined by `+`:

    n            a value; what it may point to is left alone
    any          the same, of a pointer that need not lead anywhere
    in           an object whose values the function reads
    copied       an object that it copies without looking at the values, which may be indeterminate
    text         an object that it reads up to a zero character, at most
    out, inout   an object that it writes; that it reads and writes
    one          with another word: it accesses one object of the type that the parameter points to
    link         an object where it stores a pointer that it made of another argument
    beneath      it also writes to what pointers in the object lead to
    handle       an object of the library's own, like a stream
    size         the bytes, or the number of parts, of a block that is asked for: the product of all arguments `size`
    format, scan the format of `printf`, of `scanf`
    freed        a block of memory that ends
    closed       a stream, or a directory, that ends; `n+closed`: a descriptor
    lock         a lock that is taken, released, made or destroyed
    code         a function that is called by the call
    later        a function that is called later, when the program, or a thread, ends or forks
    starts       a function that runs beside from then on; `starts-inside`: one that the object holds to which the argument points
    kept         the function keeps the pointer; later calls may use it, or return it
    ...          further arguments: for `printf` and `scanf`, what the format says
    va           the same as a `va_list`

`:2` behind a word: as many bytes as argument number 2 says, and all of them (numbers begin with 0). `?` behind it: the pointer
may be null, always. C11 7.1.4p1 does not allow it elsewhere.

*Result*:

    number       or nothing in the column: no pointer; `LOW..HIGH`: any number of these, as far as a program can know
    argument:0   that argument
    into:0       a pointer into the object that this argument leads to
    block        a new block of memory; `stack`: one that ends with the function that calls
    stream       something to be closed; `directory`, `descriptor`: the same
    outside      an object of the library's own; `static`: one that later calls may change
    any          another pointer

`?` behind it: the result may be null, whatever is passed; `~`: it may be null for some arguments.

*Besides*: `row_words.BESIDES` has the words.

*Where*: `C` and a section of C11, `POSIX` and so on for the page of that name in POSIX.1-2008 (or where else it is described).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property

import msgspec

from analysis.c import library_c, library_others, library_posix
from analysis.c.row_words import BESIDES, INCOMPLETE, RESULTS, USES
from analysis.model.bit_counts import bit_count
from analysis.model.c_types import LP64
from analysis.model.verifiers import CHECKS, is_assumption, is_input


class Argument(msgspec.Struct, frozen=True):
    """What a function does with an argument. `size`: the number of the argument that says how many bytes it accesses there."""

    uses: frozenset[str]
    size: int | None = None
    nullable: bool = False


class Function(msgspec.Struct, frozen=True, dict=True):
    """What a library function does. `null`: empty if it never returns null; `?`: it may, whatever it is passed; `~`: for some
    arguments. `of` is the number of the argument that the result is, or points into; `least` and `greatest` bound the result."""

    name: str
    arguments: tuple[Argument, ...]
    result: str
    null: str
    of: int
    least: int | None
    greatest: int | None
    besides: frozenset[str]
    described: str

    @cached_property
    def is_complete(self) -> bool:
        """Whether the row says all that the function does."""
        return self.besides.isdisjoint(INCOMPLETE)

    @property
    def never_returns(self) -> bool:
        """Whether a call does not come back."""
        return "noreturn" in self.besides

    @property
    def ends_on_status(self) -> bool:
        """Whether a call does not come back where its first argument is not 0."""
        return "ends" in self.besides

    def positions(self, *uses: str) -> tuple[int, ...]:
        """The numbers of the arguments with one of these uses."""
        return tuple(at for at, one in enumerate(self.arguments) if not one.uses.isdisjoint(uses))

    def argument(self, position: int) -> Argument:
        """What is done with an argument, also with one of the further ones."""
        if position < len(self.arguments):
            return self.arguments[position]
        return self.arguments[-1] if self.arguments and self.is_variadic else _VALUE

    @property
    def is_variadic(self) -> bool:
        """Whether it takes further arguments."""
        return bool(self.arguments) and not self.arguments[-1].uses.isdisjoint(("...", "out..."))

    @cached_property
    def format(self) -> int | None:
        """The number of the argument that is a format of `printf`, if there is one."""
        return next(iter(self.positions("format")), None)

    @cached_property
    def written(self) -> tuple[int, ...]:
        """The arguments that lead to what it writes, formats aside. Of `scanf`, further ones do, too."""
        return self.positions("out", "inout", "link", "lock", "out...")

    @cached_property
    def only_writes(self) -> bool:
        """Whether all that it changes is what its arguments lead to, and it comes back: it keeps nothing, calls nothing, and
        frees no block of the program. Nor does it change what it returned before, as `getenv` may."""
        return self.only_writes_or_frees and not self.frees

    @cached_property
    def only_writes_or_frees(self) -> bool:
        """The same for a function that may also free blocks."""
        return self.leaves_others and self.result != "static"

    @cached_property
    def leaves_others(self) -> bool:
        """The same for a function that may also change what it returned before."""
        is_open = not self.is_complete or self.never_returns or self.calls_code or bool(self.keeps)
        return not (is_open or not self.besides.isdisjoint(("elsewhere", "allocates")))

    @property
    def leaves_memory(self) -> bool:
        """Whether that is nothing, so that all memory is as it was, formats aside."""
        return self.only_writes and not self.written

    @property
    def calls_nothing(self) -> bool:
        """Whether it calls nothing of the program, whatever it is passed."""
        return self.is_complete and not self.calls_code

    @cached_property
    def reads(self) -> bool:
        """Whether it reads objects of the program."""
        return bool(self.positions("in", "copied", "text", "inout", "format", "scan", "lock", "va", "..."))

    @cached_property
    def keeps(self) -> tuple[int, ...]:
        """The arguments that lead to what later calls, or code that runs beside, may access."""
        return self.positions("kept", "later", "starts", "starts-inside")

    @cached_property
    def calls_code(self) -> bool:
        """Whether it calls functions that it is passed, at once or later."""
        return bool(self.positions("code", "later", "starts", "starts-inside"))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The arguments whose product is the size of the block that it returns."""
        return self.positions("size")

    @property
    def gives_block(self) -> bool:
        """Whether it returns a new block of memory, which has to be freed, or null."""
        return self.result == "block"

    @cached_property
    def frees(self) -> bool:
        """Whether it may free a block of memory that the program allocated."""
        return "frees" in self.besides or bool(self.positions("freed"))

    def accepts_null(self, position: int) -> bool:
        """Whether an argument may be null, always. For `strtok` and its like a null pointer stands for what an earlier call was
        passed, so that there has to be one (C11 7.24.5.8p3)."""
        return self.argument(position).nullable and not ("elsewhere" in self.besides and "inout" in self.argument(position).uses)

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """The arguments that are streams, directories or other objects of the library's, where null is none (C11 7.1.4p1)."""
        found = self.positions("handle", "closed")
        return tuple(at for at in found if not self.arguments[at].nullable and "n" not in self.arguments[at].uses)

    @cached_property
    def led(self) -> tuple[int, ...]:
        """The arguments that have to lead to something in each call (C11 7.1.4p1). Where a function is passed how much there is,
        that may be nothing; but not where it returns the pointer, as `memset` does (C11 7.24.1p2)."""
        found = set(self.needed) | set(self.positions("text", "format", "scan"))
        pointers = self.positions("in", "copied", "out", "inout", "link")
        is_sized = bool(self.positions("n", "size"))
        found.update(at for at in pointers if not is_sized or (self.result == "argument" and self.of == at))
        return tuple(sorted(at for at in found if not self.arguments[at].nullable))

    @property
    def closes_block(self) -> bool:
        """Whether it ends a stream or a directory, which is a block of memory that the library made; a descriptor is none."""
        return any("n" not in self.arguments[at].uses for at in self.positions("closed"))


_VALUE = Argument(frozenset(("n",)))


def _words(text: str) -> Argument:
    bare = text.removesuffix("?")
    words, _, size = bare.partition(":")
    uses = frozenset(words.split("+"))
    if not uses <= USES:
        raise ValueError(f"an argument is {text}")
    return Argument(uses, int(size) if size else None, bare != text)


_words_of: Callable[[str], Argument] = cache(_words)


def _rows(table: str) -> Iterator[Function]:
    """The functions of a table. Raises ValueError for a row that is wrong."""
    for line in table.splitlines():
        if line:
            yield from _row(line)


def _row(line: str) -> Iterator[Function]:
    columns = [column.strip() for column in line.split("|", 4)]
    if len(columns) != 5 or not columns[0] or not columns[4] or "|" in columns[4]:
        raise ValueError(f"this row has not five columns: {line}")
    names, given, returned, more, described = columns
    arguments = tuple(map(_words_of, given.split()))
    bare = returned.rstrip("?~")
    low, is_range, high = bare.partition("..")
    kind, _, number = ("number", "", "") if is_range else bare.partition(":")
    besides = frozenset(more.split())
    if kind not in RESULTS or not besides <= BESIDES.keys():
        raise ValueError(f"this row has words that are not known: {line}")
    for name in names.split():
        for full in _names(name, besides):
            yield Function(
                full,
                arguments,
                kind or "number",
                returned[len(bare) :],
                int(number or 0),
                int(low) if is_range else None,
                int(high) if is_range else None,
                besides,
                described,
            )


def _names(name: str, besides: frozenset[str]) -> Iterator[str]:
    """All names of a function."""
    yield name
    if "float" in besides:
        yield name + "f"
    if "builtin" in besides:
        yield "__builtin_" + name


def read(*tables: str) -> dict[str, Function]:
    """The functions of tables, by name. Raises ValueError for a row that is wrong, and for a second row of a name."""
    found: dict[str, Function] = {}
    for table in tables:
        for function in _rows(table):
            if function.name in found:
                raise ValueError(f"{function.name} has two rows")
            found[function.name] = function
    return found


LIBRARY = read(library_c.TABLE, library_posix.TABLE, library_others.TABLE)
"""All functions that have a row."""


@cache
def known(name: str) -> Function | None:
    """What the function of this name does; None if nothing is known of it. Names of families, like `__VERIFIER_nondet_int` and
    `__builtin_popcount`, are known as well."""
    found = LIBRARY.get(name)
    if found is None and (is_input(name) or name in CHECKS or is_assumption(name) or bit_count(name, LP64) is not None):
        takes, kind, null = ((), "outside", "?") if is_input(name) else ((_VALUE,), "number", "")
        found = Function(name, takes, kind, null, 0, None, None, frozenset(("keeps-errno",)), "SV-COMP")
    return found


def is_harmless(name: str) -> bool:
    """Whether the function leaves all memory as it is (`Function.leaves_memory`), formats aside."""
    function = known(name)
    return function is not None and function.leaves_memory


def is_complete(name: str) -> bool:
    """Whether it is known of the function all that it does."""
    function = known(name)
    return function is not None and function.is_complete


def all_with(wanted: Callable[[Function], bool]) -> frozenset[str]:
    """The names of all functions of the table that are so."""
    return frozenset(name for name, function in LIBRARY.items() if wanted(function))


@cache
def described(row: str) -> Function:
    """The function of one row, which a project says of a function of its own. Raises ValueError for a row that is wrong."""
    (function,) = _row(row)
    return function
