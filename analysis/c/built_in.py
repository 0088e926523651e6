"""The types of the functions that compilers have built in, which programs call without a declaration (GCC manual, "Library
Builtins", "Other Builtins", "__sync Builtins", "__atomic Builtins", "x86 Built-in Functions").

A row of the tables has three columns: what the functions return | what they take | their names. `...` alone stands for any
arguments. Where `real` stands, there are three functions: one for `double`, one for `float` with an `f` behind its name, and
one for `long double` with an `l`. What a built-in function without a row returns is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

PREFIX = "__builtin_"
PREFIXES = (PREFIX, "__sync_", "__atomic_", "__c11_", "__scoped_atomic_", "__opencl_")
"""What the names begin with that only compilers give to functions."""

LIBRARY_TABLE = """
void                | void                          | abort
void                | int                           | exit _exit _Exit
void                | void *                        | free
void                | void *, size_t                | bzero
void                | const void *, void *, size_t  | bcopy
int                 | int                           | abs ffs isalnum isalpha isascii isblank iscntrl isdigit isgraph islower
int                 | int                           | isprint ispunct isspace isupper isxdigit toascii tolower toupper putchar
int                 | long                          | ffsl
int                 | long long                     | ffsll
long                | long                          | labs
long                | long                          | imaxabs
long long           | long long                     | llabs
int                 | const char *                  | puts
int                 | const char *, ...             | printf scanf
int                 | const char *, const char *    | strcmp strcasecmp
int                 | const char *, const char *, ... | sscanf
int                 | const char *, const char *, size_t | strncmp strncasecmp
int                 | const char *, void *          | fputs
int                 | int, void *                   | fputc putc
int                 | const void *, const void *, size_t | memcmp bcmp
int                 | void *, const char *, ...     | fprintf fscanf
int                 | char *, const char *, ...     | sprintf
int                 | char *, size_t, const char *, ... | snprintf
int                 | const char *, va_list         | vprintf vscanf
int                 | void *, const char *, va_list | vfprintf vfscanf
int                 | char *, const char *, va_list | vsprintf
int                 | const char *, const char *, va_list | vsscanf
int                 | char *, size_t, const char *, va_list | vsnprintf
size_t              | const char *                  | strlen
size_t              | const char *, const char *    | strcspn strspn
size_t              | const char *, size_t          | strnlen
size_t              | const void *, size_t, size_t, void * | fwrite
char *              | char *, const char *          | stpcpy strcat strcpy
char *              | char *, const char *, size_t  | stpncpy strncat strncpy
char *              | const char *                  | strdup
char *              | const char *, const char *    | strpbrk strstr
char *              | const char *, int             | index rindex strchr strrchr
char *              | const char *, size_t          | strndup
void *              | const void *, int, size_t     | memchr
void *              | size_t                        | alloca malloc
void *              | size_t, size_t                | aligned_alloc calloc
void *              | void *, const void *, size_t  | memcpy memmove mempcpy
void *              | void *, int, size_t           | memset
void *              | void *, size_t                | realloc
real                | real                          | acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2
real                | real                          | expm1 fabs floor lgamma log log10 log1p log2 logb nearbyint rint round
real                | real                          | roundeven sin sinh sqrt tan tanh tgamma trunc
real                | real, real                    | atan2 copysign drem fdim fmax fmin fmod hypot nextafter pow remainder scalb
real                | real, real, real              | fma
real                | real, real *                  | modf
real                | real, int *                   | frexp
real                | real, int                     | ldexp scalbn
real                | real, long                    | scalbln
real                | real, real, int *             | remquo
real                | const char *                  | nan
int                 | real                          | ilogb
long                | real                          | lrint lround
long long           | real                          | llrint llround
"""
"""Functions of libraries, which have a built-in one with `__builtin_` before their names, too."""

OWN_TABLE = """
int                 | ...                           | classify_type fpclassify isfinite isgreater isgreaterequal isinf isinf_sign
int                 | ...                           | isless islessequal islessgreater isnan isnormal isunordered signbit
int                 | int                           | clrsb
int                 | long                          | clrsbl
int                 | long long                     | clrsbll
int                 | unsigned int                  | clz ctz parity popcount
int                 | unsigned long                 | clzl ctzl parityl popcountl
int                 | unsigned long long            | clzll ctzll parityll popcountll
int                 | void                          | LINE
int                 | void *                        | setjmp
int                 | char *, int, size_t, const char *, ... | __sprintf_chk
int                 | char *, size_t, int, size_t, const char *, ... | __snprintf_chk
int                 | int, const char *, ...        | __printf_chk
int                 | void *, int, const char *, ... | __fprintf_chk
int                 | char *, int, size_t, const char *, va_list | __vsprintf_chk
int                 | char *, size_t, int, size_t, const char *, va_list | __vsnprintf_chk
int                 | int, const char *, va_list    | __vprintf_chk
int                 | void *, int, const char *, va_list | __vfprintf_chk
char *              | char *, const char *, size_t, size_t | __stpncpy_chk
_Bool               | ...                           | add_overflow mul_overflow sub_overflow
_Bool               | ...                           | add_overflow_p mul_overflow_p sub_overflow_p
_Bool               | int, int, int *               | sadd_overflow smul_overflow ssub_overflow
_Bool               | long, long, long *            | saddl_overflow smull_overflow ssubl_overflow
_Bool               | long long, long long, long long * | saddll_overflow smulll_overflow ssubll_overflow
_Bool               | unsigned int, unsigned int, unsigned int * | uadd_overflow umul_overflow usub_overflow
_Bool               | unsigned long, unsigned long, unsigned long * | uaddl_overflow umull_overflow usubl_overflow
_Bool               | unsigned long long, unsigned long long, unsigned long long * | uaddll_overflow umulll_overflow
_Bool               | unsigned long long, unsigned long long, unsigned long long * | usubll_overflow
unsigned short      | unsigned short                | bswap16
unsigned int        | unsigned int                  | bswap32
uint64              | uint64                        | bswap64
void *              | const void *, size_t, ...     | assume_aligned
void *              | unsigned int                  | frame_address return_address
void *              | void *                        | extract_return_addr frob_return_addr
void *              | size_t, size_t                | alloca_with_align
void *              | void                          | stack_save
void                | void *                        | stack_restore
void                | void *, int                   | longjmp
void                | void                          | trap unreachable
const char *        | void                          | FILE FUNCTION
real                | void                          | huge_val inf
real                | const char *                  | nans
real                | real, int                     | powi
"""
"""Functions that only compilers have, without `__builtin_` before their names."""

X86_TABLE = """
unsigned long long  | void                          | ia32_rdtsc
unsigned long long  | unsigned int *                | ia32_rdtscp
void                | void                          | ia32_lfence ia32_mfence ia32_pause ia32_sfence
int                 | const char *                  | cpu_is cpu_supports
int                 | void                          | cpu_init
"""
"""The same, of compilers for x86."""

ATOMIC_TABLE = """
_Bool               | ...                           | __sync_bool_compare_and_swap
_Bool               | ...                           | __atomic_compare_exchange __atomic_compare_exchange_n __atomic_test_and_set
_Bool               | ...                           | __atomic_always_lock_free __atomic_is_lock_free
void                | ...                           | __atomic_clear __atomic_exchange __atomic_load __atomic_store
void                | ...                           | __sync_lock_release
"""
"""Functions of compilers that take pointers of any type, with their whole names."""

OF_THE_OBJECT = re.compile(
    r"__atomic_(?:load_n|exchange_n|fetch_nand|nand_fetch)|__sync_(?:val_compare_and_swap|lock_test_and_set)"
    r"|__atomic_(?:fetch_(?:add|sub|and|or|xor)|(?:add|sub|and|or|xor)_fetch)"
    r"|__sync_(?:fetch_and_(?:add|sub|and|or|xor|nand)|(?:add|sub|and|or|xor|nand)_and_fetch)"
)
"""Those that return a value of the type that their first argument leads to."""


class Signature(NamedTuple):
    """The types of a function as C spells them; `size_t`, `va_list` and `uint64` are those that the data model has. `parameters`
    is None where it takes any arguments."""

    result: str
    parameters: tuple[str, ...] | None
    variadic: bool = False


_REALS = {"": "double", "f": "float", "l": "long double"}


def read(table: str) -> dict[str, Signature]:
    """The functions of a table by name. Raises ValueError for a row that is wrong."""
    found: dict[str, Signature] = {}
    for line in filter(None, table.splitlines()):
        result, given, names = (column.strip() for column in line.split("|"))
        for name in names.split():
            for full, signature in _forms(name, result, given):
                if full in found:
                    raise ValueError(f"{full} has two rows")
                found[full] = signature
    return found


def _forms(name: str, result: str, given: str) -> Iterator[tuple[str, Signature]]:
    parameters = [] if given == "void" else given.split(", ")
    variadic = bool(parameters) and parameters[-1] == "..."
    fixed = parameters[:-1] if variadic else parameters
    if "real" not in (words := f"{result} {given}".split()) and "real," not in words:
        yield name, Signature(result, tuple(fixed) if fixed or not variadic else None, variadic)
        return
    for suffix, real in _REALS.items():
        yield name + suffix, Signature(result.replace("real", real), tuple(one.replace("real", real) for one in fixed), variadic)


LIBRARY_FORMS = read(LIBRARY_TABLE)
"""The types of built-in functions with the names of library functions."""
FORMS = LIBRARY_FORMS | read(OWN_TABLE) | read(X86_TABLE)
"""The types of all built-in functions that are known, without `__builtin_` before their names."""

ATOMIC_FORMS = read(ATOMIC_TABLE)


def signature_of(name: str) -> Signature | None:
    """The types of a function that is called without a declaration; None if nothing is known of it."""
    if name.startswith(PREFIX):
        return FORMS.get(name.removeprefix(PREFIX))
    return ATOMIC_FORMS.get(name) or LIBRARY_FORMS.get(name)


def is_of_compilers(name: str) -> bool:
    """Whether only a compiler has functions with such a name."""
    return name.startswith(PREFIXES)
