"""What programs read: how much, and what, is an input of the run, and `sscanf` and `strtok` do what their texts say."""

from __future__ import annotations

import pytest

from analysis.interpreter.library.open_results import is_about_result
from analysis.interpreter.outcome import NotModelled, Observation, Returned
from tests.support.runs import main_of, run_of

_DECLARED = (
    "int scanf(const char *, ...); int fscanf(FILE *, const char *, ...); int sscanf(const char *, const char *, ...);"
    "long read(int, void *, size_t); size_t fread(void *, size_t, size_t, FILE *); char *strtok(char *, const char *);"
    "char *strtok_r(char *, const char *, char **); FILE *fopen(const char *, const char *); int open(const char *, int, ...);"
    "double strtod(const char *, char **); double atof(const char *);"
    "int dup(int); FILE *fdopen(int, const char *); int fputs(const char *, FILE *);"
    "extern FILE *stdin; int getchar(void); int getc(FILE *); int ungetc(int, FILE *); char *fgets(char *, int, FILE *);"
)


def _end(statements: str, values: tuple[int, ...] = ()) -> object:
    return run_of(main_of(statements, _DECLARED), values).end


@pytest.mark.parametrize(
    ("statements", "result"),
    [
        ('int a, b; int n = sscanf("12 -7", "%d %d", &a, &b); return n * 100 + a + b;', 205),
        ('int a = 5; int n = sscanf("x", "%d", &a); return n * 10 + a;', 5),
        ('int a = 5; int n = sscanf("", "%d", &a); return n * 10 + a;', -5),
        ('unsigned a; int n = sscanf("0x1F", "%x", &a); return n + a;', 32),
        ('int a, b = 3; int n = sscanf("1,2", "%d;%d", &a, &b); return n * 10 + b;', 13),
        ('char s[4]; int n = sscanf("  abc def", "%3s", s); return n + strlen(s);', 4),
        ('char s[9]; int n = sscanf("key=value", "%8[a-z]", s); return n * 10 + strlen(s);', 13),
        ('char s[9]; int n; sscanf("a b:c", "%8[^:]%n", s, &n); return n * 10 + strlen(s);', 33),
        ('short a = 0; char c; return sscanf("7%q", "%hd%%%c", &a, &c) == 2 && c == \'q\' ? a : 0;', 7),
        ('int a; int n = sscanf("1 2", "%*d %d", &a); return n * 10 + a;', 12),
        (
            'char t[] = " a, b"; char *p = strtok(t, " ,"), *q = strtok(0, " ,"); return *p * 2 + *q;',
            292,
        ),
        ('char t[] = "a:b", *k; char *p = strtok_r(t, ":", &k), *q = strtok_r(0, ":", &k); return *p * 2 + *q;', 292),
    ],
)
def test_texts_are_read_as_they_are(statements: str, result: int) -> None:
    assert _end(statements) == Returned(result)


@pytest.mark.parametrize(
    ("statements", "values", "result"),
    [
        ('int a = 1, b = 2; int n = scanf("%d %d", &a, &b); return n * 100 + a * 10 + b;', (1, 7), 172),
        ('int a = 1; int n = scanf("%d", &a); return n + a;', (-9,), 0),  # no less than the end of the input
        ('int a = 1; int n = scanf("%d", &a); return n + a;', (9, 4), 5),  # no more than there are fields
        ('char s[4]; int n = scanf("%3s", s); return n + strlen(s);', (1, 104, 105, 32), 3),
        ("char b[4]; return read(0, b, 4) == 2 ? b[0] + b[1] : 0;", (2, 5, 6), 11),
        ("int a[3] = {0}; int n = fread(a, 4, 3, stderr); return n * 10 + a[1] + a[2];", (2, 8), 28),
    ],
)
def test_what_is_read_is_an_input(statements: str, values: tuple[int, ...], result: int) -> None:
    assert _end(statements, values) == Returned(result)


@pytest.mark.parametrize(
    ("statements", "values", "kind"),
    [
        ("char b[4]; return read(0, b, 8) > 0;", (5,), "array-bounds"),
        ('char s[2]; return scanf("%s", s);', (1, 104, 105, 0), "array-bounds"),
        ('int a; scanf("%d", &a); return a;', (0,), "uninitialized-read"),
        ('char s[3]; return sscanf("abc", "%s", s);', (), "array-bounds"),
        ("char b[4]; read(0, b, 4); return b[2];", (1,), "uninitialized-read"),
        ('char *p = strtok("a", ","); return p[2];', (), "array-bounds"),
    ],
)
def test_violations(statements: str, values: tuple[int, ...], kind: str) -> None:
    end = _end(statements, values)
    assert isinstance(end, Observation), end
    assert end.kind == kind


@pytest.mark.parametrize(
    ("statements", "values"),
    [
        ('char s[4]; return scanf("%3s", s);', (0,)),  # a word is there, or the input is over
        ('double d; return sscanf("1.5", "%lf", &d);', ()),
        ('int a; return sscanf("99999999999", "%d", &a);', ()),  # C11 7.21.6.2p10
        ('int a; return sscanf("1", "%*d %d", &a);', ()),
        ("char c = '%'; int a; return sscanf(\"1\", &c, &a);", ()),
    ],
)
def test_what_is_not_followed(statements: str, values: tuple[int, ...]) -> None:
    assert isinstance(_end(statements, values), NotModelled | Observation)


def test_a_text_that_is_too_long_for_a_member_that_others_follow() -> None:
    record = "struct s { char a[4]; char b[8]; char c[4]; } x = {{0}};"
    assert isinstance(_end(f'{record} strcpy(x.a, "four"); return 0;'), Observation)
    assert isinstance(_end(f'{record} sprintf(x.b, "%d", 12345678); return 0;'), Observation)
    assert _end(f'{record} strcpy(x.a, "abc"); strcat(x.b, "1234567"); return 0;') == Returned(0)
    assert _end(f"{record} memset(x.a, 1, sizeof x); return x.b[7];") == Returned(1)  # several members at once
    two = "char rows[2][4] = {{0}};"
    assert isinstance(_end(f'{two} strcpy(rows[0], "four"); return 0;'), Observation)
    last = "struct t { int n; char text[1]; } *p = malloc(16);"
    assert _end(f'{last} strcpy(p->text, "longer"); free(p); return 0;') == Returned(0)


@pytest.mark.parametrize(
    ("statements", "values", "result"),
    [
        ("int c = getchar(); ungetc(c, stdin); return getchar() + 1;", (55,), 56),
        ("int c = getc(stdin); ungetc(c, stdin); return getc(stdin) + 1;", (55,), 56),
        ('int a; scanf("%d", &a); return getchar();', (1, 10), 10),
        ('int a; return scanf("%d", &a) == 0 ? getchar() : 0;', (0, 120), 120),
        ('char w[9]; scanf("%8s", w); return getchar() + strlen(w);', (1, 104, 10), 11),  # what ended the word
        ('int a; scanf("%2d", &a); return getchar() + a;', (1, 55, 12), 67),
        ('char c, d; scanf("%c %c", &c, &d); return c + d;', (2, 104, 5), 109),
        ('int a, b; scanf("%d %d", &a, &b); return a + b;', (2, 4, 5), 9),
    ],
)
def test_what_comes_next_is_followed(statements: str, values: tuple[int, ...], result: int) -> None:
    assert _end(statements, values) == Returned(result)


@pytest.mark.parametrize(
    ("statements", "values"),
    [
        ('int a; scanf("%d", &a); return getchar();', (1, 55)),  # a further digit would be part of the number
        ('int a; char c; scanf("%d%c", &a, &c); return c + a;', (2, 55, 1)),
        ('int a; char b[4]; scanf("%d", &a); return fgets(b, 4, stdin) ? b[0] : 0;', (1, 1, 55)),
        ('int a; return scanf("%d", &a) == 0 ? getchar() : 0;', (0, 55)),
        ('int a, b; return scanf("%d,%d", &a, &b) == 1 ? getchar() : 0;', (1, 44)),
        ('char w[9]; return scanf("%8[0-9]", w) == 0 ? getchar() : 0;', (0, 55)),
        ('int a; scanf("%2d", &a); return a;', (1, 100)),
        ('unsigned a; scanf("%1x", &a); return a;', (1, 16)),
        ('char c; scanf(" %c", &c); return c;', (1, 32)),
        ('return scanf(" ");', (-1,)),
        ('int a; return scanf("%d", &a) == -1 ? getchar() : 0;', (-1, 55)),
        ("int c = getchar(); ungetc(c, stdin); char b[4]; return fgets(b, 4, stdin) ? b[0] : 0;", (55, 1, 56)),
    ],
)
def test_what_cannot_come_next_is_not_followed(statements: str, values: tuple[int, ...]) -> None:
    assert isinstance(_end(statements, values), NotModelled)


@pytest.mark.parametrize(
    ("statements", "values", "result"),
    [
        ('FILE *f = fopen("x", "w"); return f ? getc(f) : 0;', (1, 55), -1),
        ('FILE *f = fopen("x", "ab"); char b[4]; return f ? fgets(b, 4, f) == 0 : 0;', (1, 55), 1),
        ('FILE *f = fopen("x", "w"); int n = 3; int k = f ? fread(&n, 4, 1, f) : 5; return k + n;', (1, 55), 3),
        ('FILE *f = fopen("x", "w"); int n = 3; int k = f ? fscanf(f, "%d", &n) : 5; return k + n;', (1, 55), 2),
        ('FILE *f = fopen("x", "w"); if (!f) return 0; fputs("a", f); return getc(f);', (1, 0), -1),
        ('FILE *f = fopen("x", "w+"); return f ? getc(f) : 0;', (1, 55), 55),
        ('char b[4]; int fd = open("x", 01 | 0100, 0644); return read(fd, b, 4);', (5,), -1),
        ('char b[4]; int fd = open("x", 02); return read(fd, b, 4);', (5, 2), 2),
        ("return dup(-1);", (), -1),
        ("return dup(2);", (5,), 5),
        ('return fdopen(-1, "r") == 0;', (), 1),
    ],
)
def test_what_cannot_be_read_is_not(statements: str, values: tuple[int, ...], result: int) -> None:
    assert _end(statements, values) == Returned(result)


def test_what_strtok_r_leaves_behind_the_last_token_is_open() -> None:
    loop = 'char t[] = "a:b", *k = 0, *p; int n = 0; for (p = strtok_r(t, ":", &k); p; p = strtok_r(0, ":", &k)) n++;'
    plain = run_of(main_of(f"{loop} return n;", _DECLARED), ())
    assert plain.end == Returned(2)
    assert not any(map(is_about_result, plain.assumptions))
    asked = run_of(main_of(f"{loop} return k == 0;", _DECLARED), ())
    assert any(map(is_about_result, asked.assumptions))
    before = run_of(main_of('char t[] = "a:b", *k; strtok_r(t, ":", &k); return *k;', _DECLARED), ())
    assert before.end == Returned(98)
    assert not any(map(is_about_result, before.assumptions))


@pytest.mark.parametrize(
    ("statements", "result"),
    [
        ("char *e; double d = strtod(\"  -1.5e1x\", &e); return (d == -15) * 10 + (*e == 'x');", 11),
        ('char t[] = "abc", *e; double d = strtod(t, &e); return (d == 0) * 10 + (e == t);', 11),
        ("char *e; double d = strtod(\"2e\", &e); return (d == 2) * 10 + (*e == 'e');", 11),
        ('return atof(".5") * 4 + atof("1e3") / 100;', 12),
        ('return atof(".") == 0 && atof("") == 0 && atof("-") == 0;', 1),
    ],
)
def test_floating_numbers_are_read_as_they_are(statements: str, result: int) -> None:
    assert _end(statements) == Returned(result)


@pytest.mark.parametrize("text", ["0x1p3", "-inf", "NaN(1)", "1e-999"])
def test_floating_numbers_that_are_not_followed(text: str) -> None:
    assert isinstance(_end(f'return atof("{text}") > 0;'), NotModelled)


@pytest.mark.parametrize(
    ("size", "is_wrong"), [(4, False), (8, False), (6, True), (12, True), (16, False), (18, False), (24, False)]
)
def test_bytes_that_end_in_the_middle_of_the_next_number(size: int, is_wrong: bool) -> None:
    record = "struct s { char a[4]; int n; long p; char b[8]; } x = {{0}}; char from[32] = {0};"
    end = _end(f"{record} memcpy(x.a, from, {size}); return 0;")
    assert isinstance(end, Observation) == is_wrong


def test_strncpy_fills_one_array() -> None:
    record = "struct s { char a[4]; int n; } x = {{0}};"
    assert isinstance(_end(f'{record} strncpy(x.a, "ab", 8); return 0;'), Observation)
    assert _end(f'{record} strncpy(x.a, "ab", 4); return 0;') == Returned(0)
