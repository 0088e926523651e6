"""Functions that are safe by themselves from double frees, leaks and uses of what has ended: verdicts, reasons, edits, and
certificates that a process of its own accepts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import RuleVerdict
from tests.support.settled import settled_verdicts

RULES = ("double-free", "memory-leak", "resource-leak", "use-after-free")
OPTIONS = Options(
    proofs=True, everywhere=True, rules=RULES, budget="background", limits=Limits(proof_seconds=300.0, program_seconds=1.0)
)
TEXT = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *kept;
char *copy(const char *s) { char *p = malloc(strlen(s) + 1); if (p) strcpy(p, s); return p; }  /* memory-leak: safe */
int use(void) { char *p = copy("a"); if (!p) return -1; puts(p); free(p); return 0; }  /* double-free, use-after-free: safe */
int count(const char *name)  /* resource-leak: safe */
{
    FILE *f = fopen(name, "r");
    int n = 0;
    if (!f) return -1;
    while (fgetc(f) != EOF) n++;
    fclose(f);
    return n;
}
void release(char *p) { free(p); }  /* double-free: the caller's */
void keep(void) { char *p = copy("b"); kept = p; }  /* memory-leak: kept is overwritten */
int plain(int n) { return n; }  /* nothing to prove */
"""


def verdicts(file: Path, text: str = TEXT) -> dict[tuple[str, str], RuleVerdict]:
    """What is known when nothing is left to ask, by function and rule."""
    file.write_text(text)
    checker = Checker(OPTIONS, jobs=1)
    checker.open([str(file)])
    found = settled_verdicts(checker)
    checker.close()
    return found


def test_functions_are_safe_by_themselves_or_say_where_pointers_go(tmp_path: Path) -> None:
    found = verdicts(tmp_path / "a.c")
    safe = {key for key, verdict in found.items() if verdict.verdict == "safe"}
    assert {("copy", "memory-leak"), ("use", "double-free"), ("use", "use-after-free"), ("use", "memory-leak")} <= safe
    assert {("count", "resource-leak"), ("count", "memory-leak")} <= safe
    assert not {name for name, _ in safe} & {"release", "plain"}
    assert ("keep", "memory-leak") not in safe
    assert {found[key].engine for key in safe} == {"ownership"}
    assert all(found[key].certified and found[key].assumptions for key in safe)
    assert "`p` is freed, and comes from the caller" in (found["release", "double-free"].reason or "")
    assert "a.c:17" in (found["release", "double-free"].reason or "")
    assert "`kept` is assigned" in (found["keep", "memory-leak"].reason or "")


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("free(p); return 0;", "free(p); free(p); return 0;", ("use", "double-free")),
        ("free(p); return 0;", "return 0;", ("use", "memory-leak")),
        ("return p; }  /* memory", "kept = p; return p; }  /* memory", ("use", "double-free")),
        ("fclose(f);", "if (n) fclose(f);", ("count", "resource-leak")),
        ("int plain", "#include <setjmp.h>\n#include <signal.h>\nstatic jmp_buf e; static void h(int s) { longjmp(e, s); }\n"
        "void set(void) { signal(2, h); }\nint plain", ("use", "memory-leak")),
    ],
)  # fmt: skip
def test_what_an_edit_breaks_is_not_safe(tmp_path: Path, old: str, new: str, lost: tuple[str, str]) -> None:
    assert old in TEXT
    assert verdicts(tmp_path / "a.c", TEXT.replace(old, new, 1))[lost].verdict != "safe"


WHOLE = """
#include <stdlib.h>
static void release(char *p) { free(p); }  /* main keeps what it expects */
static void again(char *p) { free(p); }  /* main does not */
int main(void)
{
    char *p = malloc(3), *q = malloc(4);
    release(p);
    again(q);
    again(q);
    return 0;
}
"""


def test_functions_are_safe_where_their_callers_keep_what_they_require(tmp_path: Path) -> None:
    found = verdicts(tmp_path / "a.c", WHOLE)
    assert found["release", "double-free"].verdict == "safe"
    assert found["release", "double-free"].engine == "ownership"
    assert found["release", "double-free"].entries == ("main",)
    assert found["again", "double-free"].verdict != "safe"
    alone = verdicts(tmp_path / "c.c", WHOLE.replace("int main", "int other"))["release", "double-free"]
    assert alone.verdict == "unknown"
    assert "safe if callers keep: `p` is null, or a whole block" in (alone.reason or "")


def test_edits_of_callers_are_seen(tmp_path: Path) -> None:
    file, asked = tmp_path / "a.c", ("release", "double-free")
    file.write_text(WHOLE)
    checker = Checker(msgspec.structs.replace(OPTIONS, rules=("double-free",)), jobs=1)
    checker.open([str(file)])
    assert settled_verdicts(checker)[asked].verdict == "safe"
    edits = (
        ("release(p);", "release(p); release(p);", "unknown"),  # what is wrong is the second call
        ("int main", "static char *g; void other(void) { release(g); } int main", "unknown"),
        ("int main", "void (*h)(char *) = release; int main", "unknown"),
        ("release(p);", "release(0);", "safe"),
    )
    for number, (old, new, verdict) in enumerate(edits):
        checker.change(str(file), WHOLE.replace(old, new), number + 2)
        assert settled_verdicts(checker)[asked].verdict == verdict, new
    checker.close()


def test_certificates_are_accepted_by_another_process(tmp_path: Path) -> None:
    file, proofs = tmp_path / "a.c", tmp_path / "a.json"
    file.write_text(TEXT)
    words = ("check", "--store", "none", "--jobs", "1", "--rule", "double-free", "--certificate", str(proofs), str(file))
    subprocess.run([sys.executable, "-m", "analysis.cli", *words], capture_output=True, check=False)
    certify = [sys.executable, "-m", "analysis.cli", "certify", str(proofs), str(file)]
    done = subprocess.run(certify, capture_output=True, text=True, check=False)
    assert "accepted: use does not violate double-free itself, in whatever state it is called" in done.stdout
    assert done.returncode == 3  # not all functions are proved
    other = file.read_text().replace("free(p); return 0;", "free(p); free(p); return 0;")
    file.write_text(other)
    assert subprocess.run(certify, capture_output=True, check=False).returncode == 1
