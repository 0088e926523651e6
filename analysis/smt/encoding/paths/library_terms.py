"""What library functions do, where C11 clause 7, POSIX or the verification community's headers say it exactly."""

from __future__ import annotations

import re

from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.verifiers import CHECKS, is_input

# functions that write no memory of the program that it can see, and may return anything of their type
_READ_ONLY = """
    printf fprintf vprintf vfprintf puts fputs putchar putc fputc perror fflush strlen strnlen strcmp strncmp
    strcasecmp strncasecmp strcoll memcmp strspn strcspn atoi atol atoll atof isalpha isdigit isalnum isspace
    isupper islower isprint ispunct isxdigit iscntrl isgraph toupper tolower rand srand random srandom getchar
    getc fgetc feof ferror fclose fopen time clock sleep usleep close open unlink remove exit _exit _Exit
    quick_exit abort getenv __assert_fail __assert reach_error __VERIFIER_error __VERIFIER_atomic_begin
    __VERIFIER_atomic_end __ctype_b_loc isatty getpid
"""
READ_ONLY = frozenset(_READ_ONLY.split())
ASSUMPTIONS = frozenset(("__VERIFIER_assume", "__builtin_assume", "__CPROVER_assume"))
FAILED_ASSERTIONS = frozenset(("__assert_fail", "__assert", "__assert_perror_fail", "reach_error", "__VERIFIER_error"))
NEVER_RETURN = frozenset(("abort", "exit", "_exit", "_Exit", "quick_exit", "longjmp", "siglongjmp")) | FAILED_ASSERTIONS
STACK_ALLOCATIONS = frozenset(("alloca", "__builtin_alloca"))
ALLOCATIONS = frozenset(("malloc", "calloc", "realloc", "aligned_alloc", "valloc", "reallocarray")) | STACK_ALLOCATIONS
COPIES_OF_STRINGS = frozenset(("strdup", "strndup"))
"""Each returns a block of its own, of which nothing more is known, or null."""
COPIES = frozenset(("memcpy", "memmove", "mempcpy"))
_FORMATS = {"printf": 0, "vprintf": 0, "fprintf": 1, "vfprintf": 1}  # where the format is
_WRITES_COUNT = re.compile(r"%[^a-zA-Z%]*(?:hh?|ll?|[jztL])?n")


def only_returns(name: str) -> bool:
    """Whether the function writes nothing that the program can see."""
    return name in READ_ONLY or is_input(name) or name in CHECKS


def writes_through(name: str, call: ir.Call) -> bool:
    """Whether a call of one of the functions that else only return writes to what an argument points to: `time(&now)` (C11
    7.27.2.4), `printf` with `%n` (7.21.6.1p8), an input that is given an address."""
    if name == "time":
        return any(not _is_null(argument) for argument in call.arguments)
    if name in _FORMATS:
        text = _literal(call.arguments[_FORMATS[name]]) if len(call.arguments) > _FORMATS[name] else None
        given = call.arguments[_FORMATS[name] + 1 :]
        is_open = name.startswith("v") or any(isinstance(argument.type, Pointer) for argument in given)
        return is_open and (text is None or _WRITES_COUNT.search(text) is not None)
    return is_input(name) and any(isinstance(a.type, Pointer) and not _is_null(a) for a in call.arguments)


def _is_null(argument: ir.Expr) -> bool:
    inner = ir.strip_casts(argument)
    return isinstance(inner, ir.IntConst) and inner.value == 0


def _literal(argument: ir.Expr) -> str | None:
    """The text of a string literal that is passed."""
    inner = ir.strip_casts(argument)
    lvalue = inner.lvalue if isinstance(inner, ir.AddressOf) else inner
    while isinstance(lvalue, ir.Index):
        lvalue = lvalue.array
    return lvalue.text if isinstance(lvalue, ir.StringConst) else None
