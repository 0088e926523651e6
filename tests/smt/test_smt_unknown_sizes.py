"""The class: a library function that is passed a number of bytes, and a pointer to an object of which the size is not known, was
taken to stay inside of it, and the object to be there. `memset(getlogin(), 0, 4000)` was `safe`, and so was
`memcpy(here, text, 1)` after `free(text)`, where `text` came from `realpath()`."""

from __future__ import annotations

import pytest

from tests.smt.test_smt_library import before
from tests.support.runs import main_of, program_of

_EXTERNALS = """
char *getlogin(void); char *strdup(const char *); char *realpath(const char *, char *); void *malloc(unsigned long);
void *memset(void *, int, unsigned long); void *memcpy(void *, const void *, unsigned long);
int memcmp(const void *, const void *, unsigned long); extern char elsewhere[]; char here[4];
"""


@pytest.mark.parametrize(
    ("statements", "is_unknown"),
    [
        ("memset(getlogin(), 0, 4000);", True),
        ('char *text = realpath("/", 0); memcpy(here, text, 1);', True),
        ('char *text = strdup("a"); memcpy(here, text, n);', True),
        ('char *text = strdup("a"); memcmp(here, text, 2);', True),
        ('char *text = n ? here : strdup("a"); memset(text, 0, 1);', True),
        ('char *text = strdup("a"); memset(text, 0, 0);', False),
        ("memset(elsewhere, 0, 4);", True),
        ("memset(here, 0, 5);", False),
        ("memset(here + n, 0, 1);", False),
        ("char *text = malloc(n); memset(text, 0, n);", False),
        ("char *text = malloc(4); memcpy(text, here, 4);", False),
    ],
)
def test_objects_of_unknown_size(statements: str, is_unknown: bool) -> None:
    name = next(name for name in ("memset", "memcpy", "memcmp") if name in statements)
    encoder, edge = before(program_of(main_of(f"int n = __VERIFIER_nondet_int(); {statements} return 0;", _EXTERNALS)), name)
    assert encoder.reaches_unknown(edge) == is_unknown
