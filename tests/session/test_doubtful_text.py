"""The class: a text that is not the one that a compiler has. Macros are not expanded, a header is not found, the
preprocessor reports an error. Nothing is proved of the program then, and no run is confirmed, however the text reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.frontend.compiler.compiler_run import find_compiler
from analysis.model.options import Engine, Options
from analysis.model.report import Report

EXACT = "int main(void) { int d = 1; return 10 / d; }\n"
# each is safe as it reads, and divides by zero for the compiler that has what is missing
INEXACT = {
    "a header is missing": '#include "not_here.h"\nint main(void) { int d = 1; return 10 / d; }\n',
    "a part of a function is missing": 'int d = 1;\nint main(void) {\n#include "not_here.inc"\n  return 10 / d;\n}\n',
    "the preprocessor reports an error": "int main(void) {\n#ifndef X\n#error\n#endif\n  int d = 1;\n  return 10 / d;\n}\n",
}
# each divides by zero
RAW = {
    "a macro for a name": "int main(void) {\n  int d = 1;\n#define d 0\n  return 10 / d;\n}\n",
    "a macro with a parameter": "#define SET(x) x = 0\nint main(void) { int d = 1; SET(d); return 10 / d; }\n",
    "behind a comment": "int main(void) {\n  int d = 1;\n/* of\ntwo lines */ #define d 0\n  return 10 / d;\n}\n",
    "a digraph": "int main(void) {\n  int d = 1;\n%:define d 0\n  return 10 / d;\n}\n",
}


def _report(tmp_path: Path, text: str, compiler: str | None = None) -> Report:
    file = tmp_path / "a.c"
    file.write_text(text, "utf-8")
    checker = Checker(
        Options(rules=("division-by-zero",), engine="symbolic", proofs=True, everywhere=True, compiler=compiler), jobs=1
    )
    checker.open([str(file)])
    checker.check()
    return checker.prove()


def _is_safe(report: Report) -> bool:
    return all(verdict.verdict == "safe" for function in report.functions for verdict in function.verdicts.values())


@pytest.mark.skipif(find_compiler(None) is None, reason="there is no compiler")
def test_a_text_that_a_compiler_takes_as_it_is(tmp_path: Path) -> None:
    assert _is_safe(_report(tmp_path, EXACT))
    assert _is_safe(_report(tmp_path, EXACT, "none"))


@pytest.mark.skipif(find_compiler(None) is None, reason="there is no compiler")
@pytest.mark.parametrize("name", INEXACT)
def test_nothing_is_proved_where_the_preprocessor_left_something_out(tmp_path: Path, name: str) -> None:
    report = _report(tmp_path, INEXACT[name])
    assert report.verdict == "unknown"
    assert not any(v.verdict == "safe" for function in report.functions for v in function.verdicts.values())


@pytest.mark.parametrize("name", RAW)
def test_nothing_is_proved_of_a_text_that_is_not_preprocessed(tmp_path: Path, name: str) -> None:
    report = _report(tmp_path, RAW[name], "none")
    assert not any(v.verdict == "safe" for function in report.functions for v in function.verdicts.values())


@pytest.mark.skipif(find_compiler(None) is None, reason="there is no compiler")
def test_a_header_that_comes_and_goes(tmp_path: Path) -> None:
    """Edits: what is not known follows the headers, not only the text of the file."""
    (tmp_path / "config.h").write_text("/* nothing */\n", "utf-8")
    file = tmp_path / "a.c"
    file.write_text('#include "config.h"\n' + EXACT, "utf-8")
    checker = Checker(Options(rules=("division-by-zero",), engine="symbolic", proofs=True, everywhere=True), jobs=1)
    checker.open([str(file)])
    checker.check()
    assert _is_safe(checker.prove())
    checker.change(str(file), file.read_text("utf-8").replace("config.h", "not_here.h"))
    checker.check()
    assert not _is_safe(checker.prove())
    checker.change(str(file), file.read_text("utf-8"))
    checker.check()
    assert _is_safe(checker.prove())


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { return 10 / !__builtin_constant_p(3); }\n",
        "int main(void) { char a[4]; return 10 / ((int)__builtin_object_size(a, 0) - 4); }\n",
        "int main(void) { return 10 / ((int)sizeof __func__ - 5); }\n",
        "#include <stdio.h>\nstatic char *p; static size_t n = 1;\n"
        "int main(void) { FILE *f = open_memstream(&p, &n); if (!f) return 0; n = 1; fflush(f); return 10 / (int)n; }\n",
        "#include <stdio.h>\nstatic char b[16];\n"
        "int main(void) { setvbuf(stdout, b, _IOFBF, sizeof b); b[0] = 1; putchar(0); return 10 / b[0]; }\n",
        "#include <stdio.h>\nstatic char b[2];\n"
        'int main(void) { FILE *f = fmemopen(b, 2, "w"); if (!f) return 0; '
        "b[0] = 1; fputc(0, f); fflush(f); return 10 / b[0]; }\n",
    ],
)
def test_what_compilers_know_and_what_streams_hold(tmp_path: Path, text: str) -> None:
    """The class: values that are not computed, and objects that are written to through what was passed earlier."""
    report = _report(tmp_path, text)
    assert not any(v.verdict == "safe" for function in report.functions for v in function.verdicts.values())


@pytest.mark.parametrize("engine", ["symbolic", "value", "predicate"])
def test_nothing_is_proved_where_the_order_of_evaluation_matters(tmp_path: Path, engine: Engine) -> None:
    """gcc evaluates arguments from right to left, and this divides by zero. It does not, from left to right."""
    text = "static int n;\nstatic int next(void) { return n++; }\nstatic int f(int a, int b) { return a / b; }\n"
    file = tmp_path / "a.c"
    file.write_text(text + "int main(void) { return f(next(), next()); }\n", "utf-8")
    checker = Checker(Options(rules=("division-by-zero",), engine=engine, proofs=True, everywhere=True), jobs=1)
    checker.open([str(file)])
    checker.check()
    verdicts = {function.name: function.verdicts["division-by-zero"].verdict for function in checker.prove().functions}
    assert verdicts["main"] == verdicts["f"] == "unknown"


_FREED = """void *malloc(unsigned long); void free(void *);
int main(void) { char *p = malloc(8); if (!p) return 0; %s char *q = malloc(8); int same = p == q; %s return 10 / (1 - same); }
"""
_LEFT = """static int *kept, x; static void keep(void) { %s kept = &x; } static int same(void) { int y = 2; return kept == &y; }
int main(void) { keep(); return 10 / (1 - same()); }
"""


@pytest.mark.parametrize("engine", ["symbolic", "predicate"])
@pytest.mark.parametrize(
    ("text", "is_proved"),
    [
        (_FREED % ("free(p);", "free(q);"), False),
        (_FREED % ("", "free(p); free(q);"), True),
        (_LEFT % "int x = 1;", False),
        (_LEFT % "", True),
    ],
)
def test_a_pointer_to_what_is_gone_can_equal_another(tmp_path: Path, engine: Engine, text: str, is_proved: bool) -> None:
    """Those that are not proved end with a division by zero where gcc's code is run without optimisation."""
    file = tmp_path / "a.c"
    file.write_text(text, "utf-8")
    checker = Checker(Options(rules=("division-by-zero",), engine=engine, proofs=True, everywhere=True), jobs=1)
    checker.open([str(file)])
    checker.check()
    verdicts = {function.name: function.verdicts["division-by-zero"].verdict for function in checker.prove().functions}
    assert (verdicts["main"] == "safe") == is_proved
