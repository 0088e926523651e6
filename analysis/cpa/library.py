"""What external functions do to the program's memory (C11 clause 7, POSIX, the verification community's functions).

Everything that is not named here may change all memory that it can reach.
"""

from __future__ import annotations

from typing import NamedTuple

from analysis.model.bit_counts import bit_count
from analysis.model.c_types import LP64
from analysis.model.verifiers import CHECKS, is_input

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

ALLOCATORS = frozenset({"malloc", "calloc", "__builtin_malloc", "__builtin_calloc", "kmalloc", "kzalloc", "xmalloc"})
STACK_ALLOCATORS = frozenset({"alloca", "__builtin_alloca"})
ZEROING = frozenset({"calloc", "__builtin_calloc", "kzalloc"})
"""The allocators whose memory is zero."""

RELEASES = frozenset({"free", "cfree", "kfree"})
"""Functions after which the object that the first argument points to is gone. What it held may not be read any more (C11
7.22.3.3), and nothing else changes, so that nothing has to be forgotten."""


_HEAP = """
    malloc kmalloc vmalloc valloc kzalloc vzalloc calloc aligned_alloc memalign posix_memalign alloca realloc reallocarray
    free cfree kfree vfree kvfree strdup strndup
"""
HEAP = frozenset(_HEAP.split())
"""Functions that give blocks of memory, or end them."""


_STRINGS_AND_MEMORY = """
    memcpy mempcpy memmove memccpy memset memcmp memchr memrchr memmem bcopy bcmp bzero explicit_bzero
    strcpy stpcpy strncpy stpncpy strcat strncat strlcpy strlcat strnlen strcoll strtok strtok_r strsep strerror strxfrm
    strtol strtoul strtoll strtoull strtod strtof sprintf snprintf vsprintf vsnprintf sscanf
    sigemptyset sigfillset sigaddset sigdelset sigismember
"""
CALL_NOTHING = READ_ONLY | WRITES_FIRST | HEAP | frozenset(_STRINGS_AND_MEMORY.split())
"""Functions that call nothing of the program, whatever they are passed."""


class Start(NamedTuple):
    """What a function starts: the function that argument number `argument` points to, or (`inside`) one that a structure holds to
    which it points. `thread`: in a thread of its own, else as a handler of signals."""

    argument: int
    inside: bool = False
    thread: bool = False


_HANDLED = ("signal", "bsd_signal", "sysv_signal", "__sysv_signal", "ssignal", "sigset")
_NOTIFIED = {
    "timer_create": 1,
    "mq_notify": 1,
    "aio_read": 0,
    "aio_write": 0,
    "aio_fsync": 1,
    "lio_listio": 3,
    "getaddrinfo_a": 3,
}
STARTS: dict[str, Start] = {
    **dict.fromkeys(_HANDLED, Start(1)),
    **dict.fromkeys(("sigaction", "sigvec"), Start(1, inside=True)),
    "pthread_create": Start(2, thread=True),
    "thrd_create": Start(1, thread=True),
    **dict.fromkeys(("clone", "__clone"), Start(0, thread=True)),
    **{name: Start(argument, inside=True, thread=True) for name, argument in _NOTIFIED.items()},
}
"""Functions after which other functions of the program can run at any time (C11 7.14, 7.26.5, POSIX)."""

_UNMODELLED = """
    fork vfork
    setvbuf setbuf setbuffer fmemopen open_memstream open_wmemstream fopencookie funopen
    setjmp _setjmp sigsetjmp __sigsetjmp __builtin_setjmp __builtin_longjmp getcontext setcontext swapcontext makecontext
"""
UNMODELLED = frozenset(STARTS) | frozenset(_UNMODELLED.split())
"""Functions after which control does not only go on to the next statement of the program, or others that are called later write
to objects that they are not passed: what a stream was given as its buffer (C11 7.21.5.6)."""


def is_harmless(name: str) -> bool:
    """Whether the function leaves all memory of the program as it is."""
    return name in READ_ONLY or is_input(name) or name in CHECKS or bit_count(name, LP64) is not None
