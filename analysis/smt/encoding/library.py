"""What library functions do, where C11 clause 7, POSIX or the verification community's headers say it exactly."""

from __future__ import annotations

from analysis.model.verifiers import CHECKS

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
NONDETERMINISTIC = "__VERIFIER_nondet_"
ASSUMPTIONS = frozenset(("__VERIFIER_assume", "__builtin_assume", "__CPROVER_assume"))
FAILED_ASSERTIONS = frozenset(("__assert_fail", "__assert", "__assert_perror_fail", "reach_error", "__VERIFIER_error"))
NEVER_RETURN = frozenset(("abort", "exit", "_exit", "_Exit", "quick_exit", "longjmp", "siglongjmp")) | FAILED_ASSERTIONS
STACK_ALLOCATIONS = frozenset(("alloca", "__builtin_alloca"))
ALLOCATIONS = frozenset(("malloc", "calloc", "realloc", "aligned_alloc", "valloc", "reallocarray")) | STACK_ALLOCATIONS
COPIES = frozenset(("memcpy", "memmove", "mempcpy"))


def only_returns(name: str) -> bool:
    """Whether the function writes nothing that the program can see."""
    return name in READ_ONLY or name.startswith(NONDETERMINISTIC) or name in CHECKS
