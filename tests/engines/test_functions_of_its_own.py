"""A function that the program defines is none of the library's, whatever its name is: no rule takes it for one, and no row of the
tables says what it does. A rule of a user can name functions of his own."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

# for each name: a definition that does nothing of what the library's function does, and a use that is wrong for the library's
OWN = {
    "dup": ("int dup(int n) { return n + 1; }", "dup(4); return 0;"),
    "open": ("int open(const char *s) { return s[0]; }", 'return open("x") > 2 ? 0 : 1;'),
    "close": ("void close(int *n) { ++*n; }", "int n = 0; close(&n); close(&n); return n;"),
    "fopen": ("int *fopen(int *n) { return n; }", "int n = 0; return *fopen(&n);"),
    "fclose": ("void fclose(int *n) { ++*n; }", "int n = 0; fclose(&n); fclose(&n); return n;"),
    "malloc": ("static int room[9]; void *malloc(unsigned long n) { return &room[n % 9]; }", "int *p = malloc(4); return *p;"),
    "free": ("void free(void *p) { ++*(int *)p; }", "int n = 0; free(&n); free(&n); return n;"),
    "realloc": ("int *realloc(int *p, int n) { *p = n; return p; }", "int n = 0; realloc(&n, 2); return n;"),
    "strchr": ("char *strchr(char *s, int c) { return *s == c ? s : s + 1; }", 'char t[] = "ab"; return *strchr(t, 98);'),
    "popen": (
        "int *popen(int *n) { return n; } void pclose(int *n) { ++*n; }",
        "int n = 0; pclose(popen(&n)); pclose(&n); return n;",
    ),
    "pthread_mutex_lock": (
        "static void pthread_mutex_lock(int *n) { ++*n; }",
        "int n = 0; pthread_mutex_lock(&n); pthread_mutex_lock(&n); return n;",
    ),
    "gets": ("static int gets(int n) { return n; }", "return gets(1);"),
}


def _found(tmp_path: Path, text: str, options: Options) -> list[str]:
    file = tmp_path / "own.c"
    file.write_text(text, "utf-8")
    checker = Checker(options)
    checker.open([str(file)])
    report = checker.check()
    checker.close()
    return [f"{finding.rule}: {finding.message}" for finding in report.findings]


@pytest.mark.parametrize("name", OWN)
def test_it_is_not_taken_for_the_librarys(name: str, tmp_path: Path) -> None:
    definition, use = OWN[name]
    text = f"{definition}\nint main(void) {{ {use} }}\n"
    assert _found(tmp_path, text, Options(rules=("all",), engine="automaton")) == []


def test_what_is_only_declared_is_the_librarys(tmp_path: Path) -> None:
    declared = "void free(void *p);\nvoid *malloc(unsigned long n);\n"
    text = f"{declared}int main(void) {{ char *p = malloc(4); free(p); free(p); return 0; }}\n"
    found = _found(tmp_path, text, Options(rules=("double-free",), engine="automaton"))
    assert found == ["double-free: `p` is freed for the second time"]


def test_a_definition_in_another_file_counts(tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text("void free(void *p) { ++*(int *)p; }\n", "utf-8")
    file = tmp_path / "own.c"
    file.write_text("void free(void *p);\nint main(void) { int n = 0; free(&n); free(&n); return n; }\n", "utf-8")
    checker = Checker(Options(rules=("all",), engine="automaton"))
    checker.open([str(file), str(tmp_path / "other.c")])
    assert checker.check().findings == ()
    checker.change(str(tmp_path / "other.c"), "int other;\n")  # then it is the library's
    again = [finding.rule for finding in checker.check().findings]
    checker.close()
    assert "double-free" in again


@pytest.mark.parametrize("linkage", ["", "static "])
def test_a_rule_of_a_user_names_functions_of_his_own(linkage: str, tmp_path: Path) -> None:
    rule = (
        "name: closed-twice\nsummary: It is closed twice\nseverity: error\ntracks: $X\nabout-object: true\n"
        "help: {what: w, why: y, example: e, fix: f}\ntransitions:\n"
        '  - {from: start, when: "close($X)", to: closed}\n  - {from: closed, when: "close($X)", error: "closed twice"}\n'
        '  - {from: closed, when: "if ($X == NULL)", to: stop}\n'
    )
    (tmp_path / "closed-twice.yaml").write_text(rule, "utf-8")
    definition, use = OWN["close"]
    text = f"{linkage}{definition}\nint main(void) {{ {use} }}\n"
    options = Options(rules=("closed-twice",), rules_dirs=(str(tmp_path),), engine="automaton")
    assert _found(tmp_path, text, options) == ["closed-twice: closed twice"]
