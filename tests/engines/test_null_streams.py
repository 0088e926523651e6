"""A stream or directory that can be null is passed to a function of the library, which wants one (C11 7.1.4p1). Many C libraries
do not declare it; the table says it. `fflush` accepts null."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

OPEN = 'FILE *f = fopen("x", "r");'
FOUND = {
    "fgets": f"char b[8]; {OPEN} return fgets(b, 8, f) != NULL;",
    "fclose": f"{OPEN} fclose(f); return 0;",
    "fprintf": f'{OPEN} fprintf(f, "x"); return 0;',
    "a test that leads on": f'{OPEN} if (!f) perror("x"); return fgetc(f);',
    "readdir": 'DIR *d = opendir("."); return readdir(d) != NULL;',
}
QUIET = {
    "tested": f"{OPEN} if (!f) return 1; fclose(f); return 0;",
    "fflush": f"{OPEN} fflush(f); if (f) fclose(f); return 0;",
    "a null pointer that is printed": 'char *p = NULL; printf("%p", (void *)p); fprintf(stderr, "%p", (void *)p); return 0;',
    "a function of the program": f"{OPEN} return rewinding(f);",
}


def rules(tmp_path: Path, body: str) -> list[str]:
    file = tmp_path / "t.c"
    text = f"#include <dirent.h>\n#include <stdio.h>\nint rewinding(FILE *f);\nint f(void) {{ {body} }}\n"
    file.write_text(text, encoding="utf-8")
    checker = Checker(Options(rules=("null-dereference",), engine="automaton"))
    checker.open([str(file)])
    found = checker.check().findings
    checker.close()
    return [finding.message for finding in found]


@pytest.mark.parametrize("name", FOUND)
def test_a_stream_that_can_be_null_is_found(name: str, tmp_path: Path) -> None:
    (message,) = rules(tmp_path, FOUND[name])
    assert message.endswith("can be null here and is passed where null is not allowed")


@pytest.mark.parametrize("name", QUIET)
def test_there_is_no_finding(name: str, tmp_path: Path) -> None:
    assert rules(tmp_path, QUIET[name]) == []
