"""Nothing is said to be safe from uses after a free where the library reads later what the program gave it before.

The class: the block is read by a call that is not passed it. No sanitizer sees that, since it is the library that reads.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checked import checked

_PROGRAM = """#define _GNU_SOURCE
#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **__environ;
int main(void) {{ char *p = malloc(16); if (!p) return 1; strcpy(p, "A=b"); {body} }}
"""


def verdict(tmp_path: Path, body: str) -> str:
    (tmp_path / "a.c").write_text(_PROGRAM.format(body=body))
    report = checked(tmp_path / "a.c", "use-after-free", 2.0)
    return next(one.verdicts["use-after-free"].verdict for one in report.functions if one.name == "main")


@pytest.mark.parametrize(
    "body",
    [
        'putenv(p); free(p); return getenv("A") != 0;',
        'int (*put)(char *) = putenv; put(p); free(p); return getenv("A") != 0;',
        'environ = (char **)p; free(p); return getenv("A") != 0;',
        'environ[0] = p; free(p); return getenv("A") != 0;',
        'char **all = __environ; all[0] = p; free(p); return getenv("A") != 0;',
        'program_invocation_name = p; free(p); error(0, 0, "%s", "x"); return 0;',
    ],
)
def test_the_library_may_read_it_later(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, body) != "safe"


@pytest.mark.parametrize(
    "body",
    [
        'setenv("A", p, 1); free(p); return getenv("A") != 0;',
        'free(p); return getenv("A") != 0;',
    ],
)
def test_nothing_is_given(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, body) == "safe"
