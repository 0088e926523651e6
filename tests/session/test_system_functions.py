"""The class: what functions of the system's headers change besides what they are passed. Programs that fail when they are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.model.options import Engine
from tests.support.checked import checked

PROGRAMS = {
    "the result of an earlier call": """#include <time.h>
        #include <assert.h>
        int main(void) { time_t a = 0, b = 100000000; struct tm *p = gmtime(&a); int y = p->tm_year;
            gmtime(&b); assert(p->tm_year == y); return 0; }""",
    "a buffer of the library": """#include <arpa/inet.h>
        #include <assert.h>
        int main(void) { struct in_addr a = {0x01010101}, b = {0x02020202}; char *p = inet_ntoa(a); if (!p) return 0;
            char x = p[0]; inet_ntoa(b); assert(p[0] == x); return 0; }""",
    "a variable of a header": """#include <unistd.h>
        #include <assert.h>
        int main(void) { char *v[] = {"p", "-a", "x", 0}; optind = 1; getopt(3, v, "a:"); assert(optind == 1); return 0; }""",
    "a variable of a header, without arguments": """#include <stdlib.h>
        #include <time.h>
        #include <assert.h>
        int main(void) { setenv("TZ", "EST5", 1); long t = timezone; tzset(); assert(timezone == t); return 0; }""",
    "the environment": """#include <stdlib.h>
        #include <assert.h>
        extern char **environ;
        int main(void) { char **e = environ; setenv("X", "1", 1); assert(environ == e); return 0; }""",
}


@pytest.mark.parametrize("engine", ["auto", "symbolic", "predicate", "value"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_proved_where_the_library_changes_it(name: str, engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "p.c"
    file.write_text(PROGRAMS[name])
    report = checked(file, "assertion", 1.0, engine)
    (main,) = report.functions
    assert main.verdicts["assertion"].verdict != "safe"
    assert report.refuted == 0
