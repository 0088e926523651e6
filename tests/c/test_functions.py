"""The tables of library functions, and what was decided where lists disagreed (docs/library-functions.md)."""

from __future__ import annotations

import pytest

from analysis.c.blocks import ALLOCATORS, ENDING, OWN_BLOCKS, RELEASES, ZEROING
from analysis.c.built_in import signature_of
from analysis.c.calls import leaves_memory, stores_counts, written_arguments
from analysis.c.control import NEVER_RETURN, NEVER_RETURN_ANYWHERE, TWICE, UNMODELLED
from analysis.c.functions import LIBRARY, is_harmless, known, read
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.violable import EVERYTHING, deeds
from analysis.interpreter.library import MODELLED
from analysis.model import ir
from tests.support.explorations import program_of

HEAD = """typedef unsigned long size_t; typedef long time_t;
int printf(const char *, ...); int sprintf(char *, const char *, ...); int vprintf(const char *, __builtin_va_list);
time_t time(time_t *); char *strtok(char *, const char *); long strtol(const char *, char **, int); int scanf(const char *, ...);
char *getenv(const char *); void *memcpy(void *, const void *, size_t); void mystery(char *); char *strsep(char **, const char *);
int n; char s[8]; char *end; time_t now; __builtin_va_list list;
"""


def call_of(statement: str) -> tuple[str, ir.Call]:
    """The external function that a statement calls, and the call."""
    program: Program = program_of(f"{HEAD} void f(void) {{ {statement} }}")
    calls = [edge.effect for edge in program.functions["f"].calls if isinstance(edge.effect, ir.Call)]
    (call,) = calls
    name = ir.direct_callee(call)
    assert name is not None
    return name, call


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("f | in | number | | ", "five columns"),
        ("f | in | number | C 7.1", "five columns"),
        ("f | inn | number | | C 7.1", "an argument is inn"),
        ("f | in | pointer | | C 7.1", "not known"),
        ("f | in | number | allocate | C 7.1", "not known"),
        ("f | | | | C 7.1\nf | | | | C 7.2", "two rows"),
    ],
)
def test_rows_that_are_wrong_are_refused(row: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read(row)


def test_a_row_is_all_that_a_function_needs() -> None:
    made = read("frob frobf | text out:2? size | block? | zeroed | POSIX")["frob"]
    assert made.gives_block
    assert made.null == "?"
    assert made.sizes == (2,)
    assert made.written == (1,)
    assert made.argument(1).nullable


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("memcpy(s, end, 2);", (0,)),
        ("time(0);", ()),
        ("time(&now);", (0,)),
        ('printf("%d", n);', ()),
        ('printf("%s", s);', ()),
        ('printf("%d%n", n, &n);', (2,)),
        ('printf("a\\x25n", &n);', (1,)),
        ('printf("%%n", &n);', ()),
        ('printf("%s %" "d", s, n);', ()),  # as with PRId32
        ('printf("%" "n", &n);', (1,)),
        ('printf(&"%%n"[1], &n);', (1,)),
        ("printf(end, &n);", (1,)),
        ("printf(end, n);", ()),
        ("vprintf(end, list);", None),
        ('vprintf("%d", list);', ()),
        ('sprintf(s, "%d", n);', (0,)),
        ('scanf("%d%s", &n, s);', (1, 2)),
        ('strtok(s, " ");', None),
        ("strtol(s, &end, 10);", (1,)),
        ("strtol(s, 0, 10);", ()),
        ('strsep(&end, " ");', None),
        ('getenv("A");', ()),
        ("mystery(s);", None),
    ],
)
def test_where_a_call_writes(statement: str, expected: tuple[int, ...] | None) -> None:
    assert written_arguments(*call_of(statement)) == expected


def test_a_function_without_a_row_may_do_anything() -> None:
    assert known("mystery") is None
    assert not is_harmless("mystery")
    assert deeds("mystery") == EVERYTHING
    assert known("xmalloc") is None  # no standard describes it


def test_what_getenv_returned_may_change() -> None:  # C11 7.22.4.6p4
    assert not leaves_memory(*call_of('getenv("A");'))
    assert not is_harmless("getenv")


def test_what_strtok_was_passed_is_kept() -> None:  # C11 7.24.5.8p4
    assert LIBRARY["strtok"].keeps == (0,)
    assert "elsewhere" in LIBRARY["strtok"].besides


def test_formats_store_only_through_pointers() -> None:
    name, call = call_of("printf(end, n);")
    assert not stores_counts(LIBRARY[name], call)


def test_allocators_are_the_same_for_all() -> None:
    assert {"malloc", "calloc", "aligned_alloc", "valloc", "memalign", "kmalloc", "kzalloc", "vmalloc", "vzalloc"} <= ALLOCATORS
    assert {"calloc", "kzalloc", "vzalloc", "__builtin_calloc"} == ZEROING
    assert {"free", "cfree", "kfree", "vfree", "kvfree", "__builtin_free"} == RELEASES
    assert {"realloc", "reallocarray", "__builtin_realloc"} == ENDING - RELEASES
    assert {"strdup", "strndup", "tempnam"} <= OWN_BLOCKS


def test_deeds_follow_from_the_rows() -> None:
    assert deeds("asprintf") == {"allocate"}
    assert deeds("kfree") == {"free"}
    assert deeds("getline") == {"allocate", "free"}
    assert deeds("fclose") == {"free", "close"}
    assert deeds("close") == {"close"}
    assert deeds("open") == {"open"}
    assert deeds("mtx_lock") == {"lock"}
    assert deeds("strlen") == frozenset()
    assert deeds("signal") == EVERYTHING


def test_what_never_returns() -> None:
    assert {"exit", "__assert", "_assert", "__assert_rtn", "__assert_perror_fail", "_longjmp", "reach_error"} <= NEVER_RETURN
    assert {"reach_error", "__VERIFIER_error", "siglongjmp"} == NEVER_RETURN - NEVER_RETURN_ANYWHERE  # C reserves no such name


def test_what_comes_back_twice_is_not_modelled() -> None:
    assert {"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp", "vfork", "getcontext"} == TWICE
    assert TWICE <= UNMODELLED
    assert {"initstate", "setstate", "setvbuf", "longjmp", "atexit", "fork"} <= UNMODELLED


def test_null_where_the_standard_accepts_it() -> None:
    nullable = {name for name, function in LIBRARY.items() if any(argument.nullable for argument in function.arguments)}
    assert {"perror", "system", "time", "fflush", "setlocale", "wait", "free", "realloc", "strtok"} <= nullable
    assert not {"memcpy", "strlen", "snprintf", "fclose", "fopen"} & nullable


@pytest.mark.parametrize("name", ["rawmemchr", "nl_langinfo", "ctermid", "sbrk", "strerror", "memcpy", "stpcpy"])
def test_what_returns_no_null_pointer(name: str) -> None:
    assert LIBRARY[name].null == ""


def test_what_the_interpreter_computes_has_a_row() -> None:
    others = {name for name in MODELLED if known(name) is None and signature_of(name) is None}
    locks = {name for name in others if "lock" in name or "mutex" in name}  # the kernel's: no contract but the rule's is known
    assert others == locks
