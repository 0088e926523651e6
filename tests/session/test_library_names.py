"""The class: functions that have the name of a library function, but do something else. The program declares them itself, and a
file that is not checked defines them. Each of these programs can fail when it is linked with such a function."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cfa.linking.library_names import UNLIKE as UNLIKE_SAID
from analysis.cfa.linking.link import link
from analysis.model import ir
from analysis.model.assumptions import LIBRARY_NAMES
from analysis.model.options import Engine
from analysis.model.report import Report
from tests.support.checked import checked
from tests.support.lowered import unit_of

MAY_SET_G = "int g = 1; {} int main(void) {{ {}; return 5 / g; }}"
UNLIKE = {
    "an argument that is a value": MAY_SET_G.format("int remove(int);", "remove(3)"),
    "too few arguments": MAY_SET_G.format("int access(int);", "access(1)"),
    "no arguments": MAY_SET_G.format("void index(void);", "index()"),
    "too many arguments": MAY_SET_G.format("int abs(int, int);", "abs(1, 2)"),
    "further arguments": MAY_SET_G.format("int abs(int, ...);", "abs(1)"),
    "code for an object": MAY_SET_G.format("void f(void); void kfree(void (*)(void));", "kfree(f)"),
    "an object for code": MAY_SET_G.format("int atexit(int *);", "atexit(&g)"),
    "numbers for text": MAY_SET_G.format("int puts(int *);", "puts(&g)"),
    "a result that is a pointer": "int *random(void); int main(void) { return 5 / (random() == 0 ? 0 : 1); }",
    "a result that is none": 'int getenv(const char *); int g = 1; int main(void) { return getenv("x") ? 5 / g : 5 / g; }',
    "without a prototype": MAY_SET_G.format("int remove();", "remove(3)"),
    "without a declaration": MAY_SET_G.format("", "remove(3)"),
    "through a pointer": MAY_SET_G.format("int remove(int); int (*p)(int) = remove;", "p(3)"),
    "an input that takes something": MAY_SET_G.format("int nondet(int *);", "nondet(&g)"),
    "an assumption about a pointer": MAY_SET_G.format("void assume(int *);", "assume(&g)"),
}
LIKE = {
    "index": 'char *index(const char *, int); int main(void) { index("ab", 98); return 5 / 1; }',
    "kfree": "void kfree(const void *); int main(void) { int a = 1; kfree(0); return 5 / a; }",
    "my_assume": "void my_assume(int); int main(int c, char **v) { my_assume(c != 0); return 5 / c; }",
    "nondet": "int nondet(void); int main(void) { int a = nondet(); return a ? 5 / a : 0; }",
    "access": 'int access(); int main(void) { int a = 1; access("x", 0); return 5 / a; }',
}
RESERVED = (
    "void *malloc(unsigned long); void free(void *); int main(void) { free(malloc(4)); return 5 / 1; }",
    "extern int __VERIFIER_nondet_int(void); int main(void) { int a = __VERIFIER_nondet_int(); return a ? 5 / a : 0; }",
    '#include <unistd.h>\nint main(void) { return 5 / (1 + (access("x", 0) == 0)); }',
    "int main(int c, char **v) { __ESBMC_assume(v); __VERIFIER_assume(c != 0); return 5 / c; }",
    "int main(void) { char c[4]; __builtin_memset(c, 0, 4); return 5 / 1; }",
)


def report_of(text: str, engine: Engine, folder: Path) -> Report:
    """What is said of a program, after provers were asked."""
    file = folder / "p.c"
    file.write_text(text)
    return checked(file, "division-by-zero", 1.0, engine)


@pytest.mark.parametrize("name", UNLIKE)
def test_a_function_is_not_understood_where_a_declaration_is_not_the_librarys(name: str) -> None:
    program = link([unit_of(UNLIKE[name])]).program
    edges = [edge for edge in program.functions["main"].edges if isinstance(edge.effect, ir.Unsupported)]
    assert any(UNLIKE_SAID in edge.effect.reason for edge in edges if isinstance(edge.effect, ir.Unsupported))


@pytest.mark.parametrize("engine", ["auto", "symbolic", "predicate", "value"])
@pytest.mark.parametrize(
    "name", ["an argument that is a value", "code for an object", "a result that is a pointer", "through a pointer"]
)
def test_nothing_is_proved_where_a_declaration_is_not_the_librarys(name: str, engine: Engine, tmp_path: Path) -> None:
    report = report_of(UNLIKE[name], engine, tmp_path)
    (main,) = report.functions
    assert main.verdicts["division-by-zero"].verdict != "safe"
    assert report.refuted == 0
    assert not any(finding.status == "confirmed" for finding in report.findings)


@pytest.mark.parametrize("name", LIKE)
def test_a_proof_says_which_functions_it_takes_for_the_librarys(name: str, tmp_path: Path) -> None:
    (main,) = report_of(LIKE[name], "auto", tmp_path).functions
    verdict = main.verdicts["division-by-zero"]
    assert verdict.verdict == "safe"
    assert f"{LIBRARY_NAMES.sentence}: {name}" in verdict.assumptions


@pytest.mark.parametrize("text", RESERVED)
def test_nothing_is_assumed_of_names_that_belong_to_the_library(text: str, tmp_path: Path) -> None:
    (main,) = report_of(text, "auto", tmp_path).functions
    verdict = main.verdicts["division-by-zero"]
    assert verdict.verdict == "safe"
    assert not [said for said in verdict.assumptions if said.startswith(LIBRARY_NAMES.sentence)]
