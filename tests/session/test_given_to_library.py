"""Nothing is said to be safe from uses after a free where the library reads later what the program gave it before.

The class: the block is read by a call that is not passed it. No sanitizer sees that, since it is the library that reads.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options
from tests.support.checked import checked
from tests.support.settled import settled_verdicts

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


_ASKS = (
    "static int asks(void) { char *q = malloc(2); if (!q) return 0; q[0] = q[1] = 0; int n = !getenv(q); free(q); return n; }\n"
)


@pytest.mark.parametrize("given", ["putenv(p);", "environ = (char **)p;", "environ[0] = p;"])
def test_what_another_function_gives_ends_a_proof_at_once(tmp_path: Path, given: str) -> None:
    """Also before any prover was asked again, and though the function that calls the library has not changed."""
    file = tmp_path / "a.c"
    head, _, start = _PROGRAM.partition("int main")
    before = head + _ASKS + "int main" + start.format(body="free(p); return asks();")
    after = before.replace("free(p); return", f"{given} free(p); return")
    assert after != before
    file.write_text(before)
    limits = Limits(proof_seconds=300.0, program_seconds=1.0)
    options = Options(proofs=True, everywhere=True, rules=("use-after-free",), budget="background", limits=limits)
    checker = Checker(options, jobs=1)
    checker.open([str(file)])
    key = ("asks", "use-after-free")
    try:
        assert settled_verdicts(checker)[key].verdict == "safe"
        checker.change(str(file), after, 1)
        at_once = {one.name: one.verdicts["use-after-free"].verdict for one in checker.check().functions}
        assert at_once["asks"] != "safe"
        assert settled_verdicts(checker)[key].verdict != "safe"
    finally:
        checker.close()
