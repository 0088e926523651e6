"""What functions without a body do to the program's memory (C11 clause 7, POSIX, the verification community's functions).

Everything that is not named here may change all memory that it can reach.
"""

from __future__ import annotations

from analysis.model.bit_counts import bit_count
from analysis.model.c_types import LP64
from analysis.model.verifiers import CHECKS

READ_ONLY = frozenset(
    {
        "printf",
        "fprintf",
        "vprintf",
        "vfprintf",
        "puts",
        "fputs",
        "putchar",
        "putc",
        "fputc",
        "perror",
        "strlen",
        "strcmp",
        "strncmp",
        "strcasecmp",
        "strncasecmp",
        "memcmp",
        "strchr",
        "strrchr",
        "strstr",
        "memchr",
        "strspn",
        "strcspn",
        "strpbrk",
        "atoi",
        "atol",
        "atoll",
        "atof",
        "isalpha",
        "isdigit",
        "isalnum",
        "isspace",
        "isupper",
        "islower",
        "isprint",
        "ispunct",
        "isxdigit",
        "iscntrl",
        "isgraph",
        "toupper",
        "tolower",
        "abs",
        "labs",
        "llabs",
        "rand",
        "srand",
        "getchar",
        "getc",
        "fgetc",
        "fclose",
        "fopen",
        "fflush",
        "fseek",
        "ftell",
        "feof",
        "ferror",
        "getenv",
        "time",
        "clock",
        "sqrt",
        "pow",
        "floor",
        "ceil",
        "fabs",
        "sin",
        "cos",
        "tan",
        "exp",
        "log",
        "close",
        "open",
        "usleep",
        "sleep",
        "__ctype_b_loc",
        "__errno_location",
        "assert",
        "strdup",
    }
)
"""Functions that write to no object of the program."""

WRITES_FIRST = frozenset(
    {"memset", "memcpy", "memmove", "strcpy", "strncpy", "strcat", "strncat", "sprintf", "snprintf", "fgets", "gets", "bzero"}
)
"""Functions that write only to the object that the first argument points to."""

NONDETERMINISTIC = "nondet"
"""What is in the names of functions that do nothing but to return any value (`__VERIFIER_nondet_int`)."""

ALLOCATORS = frozenset({"malloc", "calloc", "__builtin_malloc", "__builtin_calloc", "kmalloc", "kzalloc", "xmalloc"})
STACK_ALLOCATORS = frozenset({"alloca", "__builtin_alloca"})
ZEROING = frozenset({"calloc", "__builtin_calloc", "kzalloc"})
"""Of the allocators: the memory they give is zero."""

RELEASES = frozenset({"free", "cfree", "kfree"})
"""Functions after which the object that the first argument points to is gone. What it held may not be read any more (C11
7.22.3.3), and nothing else changes, so that nothing has to be forgotten."""


_HEAP = """
    malloc kmalloc vmalloc valloc kzalloc vzalloc calloc aligned_alloc memalign posix_memalign alloca realloc reallocarray
    free cfree kfree vfree kvfree strdup strndup
"""
HEAP = frozenset(_HEAP.split())
"""Functions that give blocks of memory, or end them."""


_CONCURRENT = "pthread_create thrd_create clone signal sigaction bsd_signal sysv_signal sigset sigvec"
CONCURRENT = frozenset(_CONCURRENT.split())
"""Functions after which other functions of the program can run at any time: threads, and handlers of signals."""

_UNMODELLED = """
    fork vfork
    setjmp _setjmp sigsetjmp __sigsetjmp __builtin_setjmp __builtin_longjmp getcontext setcontext swapcontext makecontext
"""
UNMODELLED = CONCURRENT | frozenset(_UNMODELLED.split())
"""Functions after which control does not only go on to the next statement of the program."""


def is_harmless(name: str) -> bool:
    """Whether the function leaves all memory of the program as it is."""
    return name in READ_ONLY or NONDETERMINISTIC in name or name in CHECKS or bit_count(name, LP64) is not None
