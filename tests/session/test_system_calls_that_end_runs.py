"""The class: runs that do not come back from a function of the system, or come back after a handler ran. Nothing behind such a
call is confirmed: each of these programs ends, or jumps, before its assertion fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.model.options import Engine
from analysis.model.report import Report
from tests.support.checked import checked

HEADERS = "".join(f"#include <{name}.h>\n" for name in ("assert", "setjmp", "signal", "stdlib", "sys/time", "unistd"))
ENDED = {
    "raise": "int main(void) { raise(SIGKILL); assert(0); return 0; }",
    "kill": "int main(void) { kill(getpid(), SIGKILL); assert(0); return 0; }",
    "exec": 'int main(void) { execl("/bin/true", "true", (char *)0); assert(0); return 0; }',
    "alarm": "int main(void) { alarm(1); pause(); assert(0); return 0; }",
    "timer": "int main(void) { struct itimerval t = {{0, 1}, {0, 1}}; setitimer(ITIMER_REAL, &t, 0); for (;;) assert(1); }",
    "handler": "static void h(int n) { _Exit(n); } int main(void) { signal(SIGUSR1, h); raise(SIGUSR1); assert(0); return 0; }",
    "jump": """static sigjmp_buf env; static void h(int n) { siglongjmp(env, n); }
        int main(void) { int code = sigsetjmp(env, 1); if (code == 0) { signal(SIGUSR1, h); raise(SIGUSR1); }
            assert(code != 0); return 0; }""",
    "declared by hand": "int raise(int); int main(void) { raise(9); assert(0); return 0; }",
    "no row": "int main(void) { tcgetpgrp(0); vhangup(); assert(0); return 0; }",
}
REGISTERED = "static void h(int n) { (void)n; } int main(void) { signal(SIGINT, h); assert(0); return 0; }"


def report_of(text: str, engine: Engine, folder: Path) -> Report:
    """What is said of a program, after provers were asked."""
    file = folder / "p.c"
    file.write_text("#define _GNU_SOURCE\n" + HEADERS + text)
    return checked(file, "assertion", 1.0, engine)


@pytest.mark.parametrize("engine", ["auto", "symbolic"])
@pytest.mark.parametrize("name", ENDED)
def test_nothing_is_confirmed_behind_a_call_that_need_not_come_back(name: str, engine: Engine, tmp_path: Path) -> None:
    report = report_of(ENDED[name], engine, tmp_path)
    assert [finding.message for finding in report.findings if finding.status == "confirmed"] == []


def test_a_run_behind_a_registered_handler_is_confirmed(tmp_path: Path) -> None:
    (finding,) = report_of(REGISTERED, "symbolic", tmp_path).findings
    assert finding.status == "confirmed"
