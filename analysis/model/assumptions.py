"""All assumptions that answers can rest on, in one table. Code that assumes something takes the sentence from here.

Nothing in it may remove a finding, or carry a proof, without being reported (invariant I14). There are four kinds:

- `modelled`: the result is any value, or what machines compute. Nothing is assumed.
- `ends-run`: the behaviour is undefined and machines stop there. A rule that is on by default reports it at that place.
- `checked`: it is proved together with the property. If it may not hold, the answer is `unknown` and gives this reason.
- `listed`: it is not checked. Each answer that rests on it lists it, and is taken back where a finding of `rules` is confirmed.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["modelled", "ends-run", "checked", "listed"]


class Assumption(msgspec.Struct, frozen=True):
    """One row. `rules` report where it is broken. `users`: the parts of the analysis that rest on it."""

    name: str
    kind: Kind
    sentence: str
    rules: tuple[str, ...] = ()
    users: str = ""


_FORMULAS = "path formulas, transitions, symbolic values"

OVERFLOW = Assumption(
    "overflow",
    "modelled",
    "signed overflow wraps around, as with gcc -fwrapv",
    ("signed-overflow",),
    f"{_FORMULAS}, explicit values; a run of the interpreter ends there",
)
SHIFT = Assumption(
    "shift",
    "modelled",
    "a shift by a negative number of bits, or by at least as many as the type has, gives any value",
    ("shift-range",),
    f"{_FORMULAS}, explicit values; a run of the interpreter ends there",
)
QUOTIENT = Assumption(
    "quotient",
    "modelled",
    "the smallest value of a type divided by -1 (`INT_MIN / -1`) gives any value",
    ("signed-overflow",),
    f"{_FORMULAS}; a run of the interpreter ends there",
)
DISTANCE = Assumption(
    "distance",
    "modelled",
    "subtracting two pointers that are not a whole number of elements apart gives any value",
    (),
    f"{_FORMULAS}, explicit values; the interpreter does not go on",
)
UNINITIALISED = Assumption(
    "uninitialised",
    "modelled",
    "an uninitialised object holds any value",
    ("uninitialized-read",),
    f"{_FORMULAS}; a run of the interpreter ends there",
)
CONVERSION = Assumption(
    "conversion",
    "modelled",
    "converting a floating-point value to an integer type that cannot hold it gives any value of that type",
    (),
    f"{_FORMULAS}; the interpreter does not go on",
)
ROUNDING = Assumption(
    "rounding",
    "modelled",
    "floating-point arithmetic gives any value",
    (),
    "path formulas, transitions; the interpreter computes by IEEE 754",
)
ENDLESS = Assumption(
    "endless",
    "modelled",
    "a loop that has no effects and does not end runs for ever, as with gcc, though a compiler may assume that it ends"
    " (C11 6.8.5p6)",
    (),
    "all proofs, refutations and runs",
)
LITERALS = Assumption("literals", "checked", "nothing is written to string literals and constant objects", (), "trees of paths")
SUBSCRIPTS = Assumption(
    "subscripts",
    "checked",
    "subscripts stay inside arrays of known length",
    ("array-bounds",),
    "transitions and certificates; trees of paths",
)
CALLED = Assumption(
    "called",
    "checked",
    "a call through a pointer reaches a known function whose type fits",
    (),
    "transitions and certificates; trees of paths",
)
BEFORE = Assumption(
    "before",
    "ends-run",
    "no earlier step of the run divides an integer by zero, dereferences a null pointer, frees an invalid pointer,"
    " accesses an object after its lifetime, or runs out of stack",
    ("division-by-zero", "null-dereference", "double-free", "invalid-free", "use-after-free", "use-after-scope"),
    "all proofs and refutations",
)
ORDER = Assumption(
    "order",
    "listed",
    "in expressions such as `a() + b()`, both calls return, and neither writes an object that the other one accesses as another"
    " member or type, or through a pointer from another file",
    (),
    "all proofs and runs, where operands with side effects are beside others; where their order could matter otherwise,"
    " a run confirms something only if it cannot matter in this run, and all that is proved holds in each order: that values"
    " are not null or zero, and rules about blocks and streams",
)
BOUNDS = Assumption(
    "bounds",
    "listed",
    "an access through a pointer stays inside the object that the pointer points into",
    ("array-bounds",),
    "path formulas, transitions, symbolic and explicit values, going back from a violation",
)
INSIDE = Assumption(
    "inside",
    "listed",
    "each access stays inside the object that it is meant for, so a variable changes only where it is itself written",
    ("array-bounds",),
    "proofs by closed sets of memory states",
)
OPEN_STREAMS = Assumption(
    "open-streams",
    "listed",
    "stdin, stdout and stderr are not null",
    ("null-dereference",),
    "proofs that values are not null, of functions that name them",
)
LEFT_OPEN = Assumption(
    "left-open",
    "listed",
    "stdin, stdout and stderr are open when code outside of the program calls its functions, and the program gets these streams"
    " by these names only",
    ("use-after-close",),
    "proofs that streams and blocks are not used after their end, of programs that name them and do not close them",
)
PASSED_BLOCKS = Assumption(
    "passed-blocks",
    "listed",
    "callers keep pointers of their own to the blocks, and copies of the descriptors, that they pass as arguments",
    (),
    "proofs of leaks by closed sets of memory states",
)
WHOLE_POINTERS = Assumption(
    "whole-pointers",
    "listed",
    "blocks of memory and streams are reached only through pointers, and no function overwrites, or frees, a pointer as something"
    " else, through what it got as a pointer to numbers, characters or void",
    (),
    "proofs of leaks by closed sets of memory states",
)
COPIED_POINTERS = Assumption(
    "copied-pointers",
    "listed",
    "pointers that come out of memory were set before, by copies of pointers: none is put together from numbers, comes from a"
    " file, or is the distance from another object",
    ("uninitialized-read",),
    "proofs about blocks and streams in runs from main that rest on what pointers lead to in all of the program, or on that"
    " nothing has ended before",
)
ENOUGH_PASSED = Assumption(
    "enough-passed",
    "listed",
    "a function that is called through a pointer takes no more arguments than it is passed",
    (),
    "the same proofs, where a pointer may lead to a function that takes more, as far as is seen",
)
OWN_KINDS = Assumption(
    "own-kinds",
    "listed",
    "a pointer that is stored in an object which is also accessed as bytes points to an object of the pointer's type",
    (),
    "proofs that rest on members that are never null, or zero",
)
LAST_ARRAYS = Assumption(
    "last-arrays",
    "listed",
    "an array at the end of an object behind a pointer has as many elements as there is room for, whatever its declaration says",
    ("array-bounds",),
    "trees of paths, runs of the interpreter",
)
TYPES = Assumption(
    "types",
    "listed",
    "objects behind pointers are accessed by their own type, or as characters (C11 6.5p7)",
    (),
    "transitions, going back from a violation",
)
OWN_TYPES = Assumption(
    "own-types",
    "listed",
    "objects behind pointers from outside are aligned, and accessed by their own type, or as characters",
    (),
    "path formulas",
)
OUTSIDE_POINTERS = Assumption(
    "outside-pointers", "listed", "a pointer from outside is null or points to an object", (), "path formulas"
)
ADDRESSES = Assumption(
    "addresses",
    "listed",
    "objects lie in memory at the addresses that this answer chose for them",
    (),
    "path formulas, which refute nothing then",
)
APART = Assumption("apart", "listed", "the program does not depend on what lies next to an object in memory", (), "transitions")
OUTSIDE = Assumption(
    "outside",
    "listed",
    "external functions call no function of the program, and write only objects that they can name or are passed",
    (),
    "transitions, trees of paths",
)
BLOCKS = Assumption(
    "blocks", "listed", "allocations of more than 2^30 bytes fail, and there are fewer than 2^31 allocations", (), "transitions"
)
LARGE_BLOCKS = Assumption("large-blocks", "listed", "very large allocations fail", (), "path formulas, which name the size")
FOUND = Assumption(
    "found",
    "listed",
    "allocations succeed, also those of size 0",
    (),
    "trees of paths and the decisions of findings, if `--assume` asks for it",
)
LIBRARY_NAMES = Assumption(
    "library-names",
    "listed",
    "functions that the program declares itself do what the functions of the same names do in libraries, or in verifiers",
    (),
    "all proofs and refutations. Each names the functions; none that a header of the system's declares, or whose name is reserved"
    " (C11 7.1.3). Nothing is proved of a function that uses one whose type differs from the library's",
)
PROJECT_CONTRACTS = Assumption(
    "project-contracts",
    "listed",
    "functions do what the project's contracts say",
    (),
    "all proofs and refutations of programs that use such functions. Each names the functions and the files",
)
UNREACHABLE = Assumption(
    "unreachable",
    "listed",
    "no run reaches __builtin_unreachable()",
    (),
    "all proofs and refutations of programs that call it; a run of the interpreter ends there",
)
TRANSLATION_TIME = Assumption(
    "translation-time",
    "listed",
    "the program is compiled on 1 January 1970, at 00:00:00, as __DATE__, __TIME__ and __TIMESTAMP__ say",
    (),
    "all proofs and refutations of programs that use these macros",
)
UNION_RESTS = Assumption(
    "union-rests",
    "listed",
    "writing a member of a union does not change the bytes of the union behind that member",
    (),
    "all proofs and refutations of programs that store a member of a union and read a larger one. C leaves these bytes open"
    " (C11 6.2.6.1p7); compilers do not touch them",
)
ONE_THREAD = Assumption(
    "one-thread",
    "listed",
    "no function of the program runs in another thread meanwhile, though the program uses locks",
    (),
    "all proofs and refutations of programs without main that use locks",
)
GIVEN = Assumption(
    "given",
    "listed",
    "external functions write only objects that they are passed, and return the address of no other variable",
    (),
    "trees of paths, if `--assume` asks for it",
)
NO_OVERFLOW = Assumption(
    "no-overflow",
    "listed",
    "signed arithmetic does not overflow",
    ("signed-overflow",),
    "the first search for a run, by mathematical integers; nothing is refuted by it",
)

TABLE: tuple[Assumption, ...] = (
    OVERFLOW,
    SHIFT,
    QUOTIENT,
    DISTANCE,
    UNINITIALISED,
    CONVERSION,
    ROUNDING,
    ENDLESS,
    BEFORE,
    SUBSCRIPTS,
    LITERALS,
    CALLED,
    ORDER,
    BOUNDS,
    INSIDE,
    OPEN_STREAMS,
    LEFT_OPEN,
    PASSED_BLOCKS,
    WHOLE_POINTERS,
    COPIED_POINTERS,
    ENOUGH_PASSED,
    OWN_KINDS,
    LAST_ARRAYS,
    TYPES,
    OWN_TYPES,
    OUTSIDE_POINTERS,
    ADDRESSES,
    APART,
    OUTSIDE,
    LIBRARY_NAMES,
    PROJECT_CONTRACTS,
    UNREACHABLE,
    TRANSLATION_TIME,
    UNION_RESTS,
    ONE_THREAD,
    GIVEN,
    BLOCKS,
    LARGE_BLOCKS,
    FOUND,
    NO_OVERFLOW,
)
"""All of them, in the order in which the docs show them."""

OPENED = frozenset(row.sentence for row in (SHIFT, QUOTIENT, DISTANCE))
"""What operations note that give any value for some operands."""
