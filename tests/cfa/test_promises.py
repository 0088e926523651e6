"""The class: a promise of `pure` or `const` that a function breaks, so that compilers may do other things than its text says."""

from __future__ import annotations

import pytest

from tests.cfa.test_obstructed import obstructed

_CONST = "__attribute__((const)) static"
_PURE = "__attribute__((pure)) static"
_LIBRARY = (
    "typedef unsigned long size_t; void *memcpy(void *, const void *, size_t); long strtol(const char *, char **, int);"
    " int strcmp(const char *, const char *); size_t strlen(const char *); int toupper(int); int abs(int); int rand(void);"
    " int puts(const char *); void *malloc(size_t); void free(void *); void abort(void);"
)
_MAIN = "int main(void) { return f(1); }"
BROKEN = {
    "const reads a global": f"static int g; {_CONST} int f(int n) {{ return g + n; }} void h(void) {{ g = 1; }}",
    "const reads another file's": f"extern int g; {_CONST} int f(int n) {{ return g; }}",
    "const reads a member": f"static struct {{ int m; }} g; {_CONST} int f(int n) {{ return g.m; }} void h(void) {{ g.m = 1; }}",
    "const reads by a pointer": f"{_CONST} int k(int *p) {{ return *p; }} int f(int n) {{ return k(&n); }}",
    "const reads an array": f"static int g[2]; {_CONST} int f(int n) {{ return g[n]; }} int *h(void) {{ return g; }}",
    "const reads a result": f"static int g; int k(void); {_CONST} int f(int n) {{ return g; }} void h(void) {{ g = k(); }}",
    "const reads what is pointed to": f"static int g, *p = &g; {_CONST} int f(int n) {{ return g; }} void h(void) {{ *p = 1; }}",
    "const and pure": f"static int g; {_CONST} __attribute__((pure)) int f(int n) {{ return g; }} void h(void) {{ g = 1; }}",
    "pure does not return": "__attribute__((pure)) static int f(int n) { while (n) n = n; return 1; }",
    "const does not return": f"{_CONST} int f(int n) {{ for (;;) n++; }}",
    "pure writes": "static int g; __attribute__((pure)) static int f(int n) { return ++g; }",
    "pure calls": "int k(void); __attribute__((pure)) static int f(int n) { return k(); }",
    "pure calls what writes": f"static int g; static int k(void) {{ return ++g; }} {_PURE} int f(int n) {{ return k(); }}",
    "and by another": "static int g; static int l(void) { return ++g; } static int k(void) { return l(); }"
    f" {_PURE} int f(int n) {{ return k(); }}",
    "pure counts too far": f"{_PURE} int f(unsigned char n) {{ unsigned char i = 0; while (i < 300) i++; return n; }}",
    "pure counts to what is not passed": f"{_PURE} int f(unsigned n) {{ unsigned i = 0; while (i <= n) i++; return 1; }}",
    "pure counts up to what moves": f"{_PURE} int f(int n) {{ int i = 0; while (i < n) {{ i++; n++; }} return 1; }}",
    "pure counts up and down": f"{_PURE} int f(int n) {{ int i = 0; while (i < 9) if (n) i++; else i--; return 1; }}",
    "pure counts now and then": f"{_PURE} int f(int n) {{ int i = 0; while (i < 9) if (n) i++; return 1; }}",
    "pure tests now and then": f"{_PURE} int f(int n) {{ for (int i = 0; ; i++) if (n) if (i == 9) return 1; }}",
    "pure tests two ends": f"{_PURE} int f(unsigned n) {{ for (unsigned i = 0; ; i++)"
    " if (n) { if (i >= 9) return 1; } else { if (i <= 9) return 1; } }",
    "pure counts by a pointer": f"{_PURE} int f(int n) {{ int i = 0, *p = &i; while (i < 9) {{ i++; *p = 0; }} return 1; }}",
    "pure follows a list": f"struct s {{ struct s *n; }}; {_PURE} int k(struct s *p) {{ while (p) p = p->n; return 1; }}"
    " int f(int n) { return k(0); }",
    "pure reads one place": f"{_PURE} int k(char *s) {{ char *p = s; while (*s) p++; return 1; }}"
    " int f(int n) { return k(0); }",
    "pure walks without reading": f"{_PURE} int k(char *p) {{ while (&*p) p++; return 1; }} int f(int n) {{ return k(0); }}",
    "an inner loop does not end": f"{_PURE} int f(int n) {{ for (int i = 0; i < 9; i++) while (n) n = n; return 1; }}",
    "pure calls what loops": f"static int k(int n) {{ while (n) n = n; return 1; }} {_PURE} int f(int n) {{ return k(n); }}",
    "pure calls itself": f"{_PURE} int f(int n) {{ return f(n); }}",
    "pure calls in a circle": "static int f(int n); static int k(int n) { return f(n); }"
    f" {_PURE} int f(int n) {{ return k(n); }}",
    "pure calls by a pointer": f"static int k(void) {{ return 1; }} {_PURE} int f(int n) {{ int (*p)(void) = k; return p(); }}",
    "pure stores a result": f"static int k(void) {{ return 1; }} static int g; {_PURE} int f(int n) {{ return g = k(); }}",
    "pure writes to what is passed": "static void k(int *p) { *p = 1; } static int g;"
    f" {_PURE} int f(int n) {{ k(&g); return 1; }}",
    "pure copies": f"{_LIBRARY} static int g; {_PURE} int f(int n) {{ memcpy(&g, &n, sizeof g); return 1; }}",
    "pure copies by a pointer": f"{_LIBRARY} static int k(int *p) {{ int n = 1; memcpy(p, &n, sizeof n); return 1; }}"
    f" static int g; {_PURE} int f(int n) {{ return k(&g); }}",
    "pure stores an end": f'{_LIBRARY} static char *g; {_PURE} int f(int n) {{ return strtol("1", &g, 10); }}',
    "pure ends the run": f"{_LIBRARY} {_PURE} int f(int n) {{ if (n) abort(); return 1; }}",
    "pure prints": f'{_LIBRARY} {_PURE} int f(int n) {{ return puts(""); }}',
    "pure allocates": f"{_LIBRARY} {_PURE} char *k(int n) {{ return malloc(n); }} int f(int n) {{ return k(n) != 0; }}",
    "pure frees": f"{_LIBRARY} static char *g; {_PURE} int f(int n) {{ free(g); return 1; }}",
    "pure draws": f"{_LIBRARY} {_PURE} int f(int n) {{ return rand(); }}",
    "pure calls the program's": f"{_LIBRARY} static int g; int abs(int n) {{ return g = n; }}"
    f" {_PURE} int f(int n) {{ return abs(n); }}",
    "const reads what it calls reads": f"static int g; static int k(void) {{ return g; }} {_CONST} int f(int n) {{ return k(); }}"
    " void h(void) { g = 1; }",
    "const measures": f"{_LIBRARY} static char g[9]; {_CONST} int f(int n) {{ return strlen(g); }} void h(void) {{ g[0] = 1; }}",
    "const asks the locale": f"{_LIBRARY} {_CONST} int f(int n) {{ return toupper(n); }}",
    "const calls what is pure": f"__attribute__((pure)) int k(int); {_CONST} int f(int n) {{ return k(n); }}",
}
KEPT = {
    "pure counts": f"{_PURE} int f(int n) {{ int t = 0; for (int i = 0; i < n; i++) t ^= i; return t; }}",
    "pure counts down": f"{_PURE} int f(unsigned n) {{ int t = 0; while (n) {{ t++; --n; }} return t; }}",
    "pure counts to a constant": f"{_PURE} int f(int n) {{ int i = 0; while (i != 7) {{ i += 1; if (n) continue; n = 1; }}"
    " return i; }",
    "pure counts in a loop": f"{_PURE} int f(int n) {{ int t = 0; for (int i = 0; i < n; i++) for (int j = n; j > i; j--) t ^= j;"
    " return t; }",
    "pure measures": f"{_PURE} unsigned long k(const char *s) {{ const char *p = s; while (*p) p++; return p - s; }}"
    ' int f(int n) { return k(""); }',
    "pure walks": f"{_PURE} int k(const char *s) {{ int t = 0; for (unsigned long i = 0; s[i]; i++) t ^= s[i]; return t; }}"
    ' int f(int n) { return k(""); }',
    "pure finds the last": f"{_PURE} const char *k(const char *s) {{ const char *base = s; while (*base == '/') base++;"
    " for (const char *p = base; *p; p++) if (*p == '/') base = p; return base; }"
    ' int f(int n) { return k("") != 0; }',
    "const is not called so": f"{_CONST} int f(int n) {{ if (n > 3) __builtin_unreachable(); return n; }}",
    "const computes": f"{_CONST} int f(int n) {{ int m = n; if (n) m = n + 1; return m; }}",
    "const reads a table": f"static const int g[] = {{1, 2}}; {_CONST} int f(int n) {{ return g[n & 1]; }}",
    "const reads a static local": f"{_CONST} int f(int n) {{ static const int g[] = {{1, 2}}; return g[n & 1]; }}",
    "pure reads a global": "static int g; __attribute__((pure)) static int f(int n) { return g + n; } void h(void) { g = 1; }",
    "pure reads by a pointer": "__attribute__((pure)) static int k(int *p) { return *p; } int f(int n) { return k(&n); }",
    "pure calls": "static int k(int n) { return n; } static int l(int n) { return k(n); }"
    f" {_PURE} int f(int n) {{ return l(n); }}",
    "pure calls what promises": f"__attribute__((pure)) int k(int); {_PURE} int f(int n) {{ return k(n); }}",
    "const calls what promises": f"__attribute__((const)) int k(int); {_CONST} int f(int n) {{ return k(n); }}",
    "const calls": f"static int k(int n) {{ return n; }} {_CONST} int f(int n) {{ return k(n); }}",
    "const calls the library": f"{_LIBRARY} {_CONST} int f(int n) {{ return abs(n); }}",
    "const swaps": f"unsigned __builtin_bswap32(unsigned); {_CONST} int f(int n) {{ return __builtin_bswap32(n); }}",
    "pure compares": f'{_LIBRARY} static char g[9]; {_PURE} int f(int n) {{ return strcmp(g, "a"); }}',
    "pure reads a number": f"{_LIBRARY} static char g[9]; {_PURE} int f(int n) {{ return (int)strtol(g, (char **)0, 10); }}",
    "pure reads a number's end": f'{_LIBRARY} {_PURE} int f(int n) {{ char *end; return (int)strtol("1", &end, 10); }}',
    "pure copies to its own": f"{_LIBRARY} static int g; {_PURE} int f(int n) {{ memcpy(&n, &g, sizeof n); return n; }}",
    "pure asks for a letter": "const unsigned short **__ctype_b_loc(void);"
    f" {_PURE} int f(int n) {{ return (*__ctype_b_loc())[n & 127] & 8; }}",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_nothing_is_known_of_a_function_that_may_break_it(text: str) -> None:
    assert "main" in obstructed(f"{text} {_MAIN}") or "f" in obstructed(f"{text} {_MAIN}")


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_one_that_keeps_it_is_what_its_text_says(text: str) -> None:
    assert obstructed(f"{text} {_MAIN}") == {}
