"""The class: two names of C that are one for the assembler, and nobody notices.

A label can look like a library's own, belong to something static, or be shared by two names.
"""

from __future__ import annotations

import pytest

from tests.cfa.test_obstructed import obstructed

_MAIN = "int main(void) { %s; return 0; }"
SHARED = {
    "two variables": ('int a __asm__("__shared"); extern int b __asm__("__shared");', "a = 1; b = 0"),
    "a variable and its own version": ('extern int a __asm__("__a"); extern int __a;', "a = 1; __a = 0"),
    "two functions, one defined": ('int f(void) __asm__("__f"); int f(void) { return 1; } int _f(void) __asm__("__f");', "_f()"),
    "two versions": ('int f(void) __asm__("f64"); int f(void) { return 1; } int f6(void) __asm__("f64");', "f6()"),
    "a static function": ('static int __g(void) { return 1; } int g(void) __asm__("__g");', "g()"),
    "a static function that is used": ('static int __g(void) { return 1; } int p(void) __asm__("__g");', "p(); __g()"),
    "a static variable": ('static int __v = 1; extern int v __asm__("__v");', "v = 2; return __v"),
    "a static variable, a tentative one": ('static int __v; int f(void) __asm__("__v");', "f()"),
    "another file's function": ('int f(void) __asm__("__f");', "f()", "int __f(void) { return 1; }"),
    "a library's two names": ("extern char **environ, **__environ;", "if (environ) __environ = 0"),
    "two second names of a library's": ("extern char **_environ, **__environ;", "if (_environ) __environ = 0"),
    "a library's two names, in two files": (
        "extern long __timezone;",
        "__timezone = 0",
        "extern long timezone; void g(void) { timezone = 2; }",
    ),
    "another file's label": ('int a __asm__("a_");', "a = 1", 'extern int b __asm__("a_"); void g(void) { b = 2; }'),
}


@pytest.mark.parametrize("case", SHARED.values(), ids=SHARED)
def test_whoever_mentions_one_is_not_understood(case: tuple[str, ...]) -> None:
    declared, statements, *others = case
    assert "main" in obstructed(f"{declared} {_MAIN % statements}", *others)


@pytest.mark.parametrize(
    ("declared", "statements"),
    [
        ("int scanf(const char *, ...) __asm__(\"\" \"__isoc99_scanf\");", "int n; scanf(\"%d\", &n)"),
        ("long lseek(int, long, int) __asm__(\"\" \"lseek64\"); long lseek64(int, long, int);", "lseek(1, 0, 0)"),
        ("int f(void) __asm__(\"__f\"); int f(void) { return 1; }", "f()"),
        ("int f(void) __asm__(\"f\");", "f()"),
        ("extern char **__environ;", "__environ = 0"),
    ],
)  # fmt: skip
def test_a_library_s_own_versions_are_what_they_are_called(declared: str, statements: str) -> None:
    assert obstructed(f"{declared} {_MAIN % statements}") == {}
