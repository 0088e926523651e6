"""What a run takes for given of files, descriptors and messages: confirmed is what some system can do, and nothing else.

The class: functions of the library whose results and buffers are inputs, but not any: no more comes than was asked for, a stream
that came to its end says so, descriptors that are open differ, a position is one, and what only success could write is not made
up.
"""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, decide_program
from tests.support.runs import program_of

HEADER = (
    "typedef struct _IO_FILE FILE; typedef unsigned long size_t; typedef long ssize_t; typedef long off_t;"
    "struct stat { int mode; }; struct addrinfo; FILE *fopen(const char *, const char *);"
    "size_t fread(void *, size_t, size_t, FILE *); int getc(FILE *);"
    "int feof(FILE *); int ferror(FILE *); int fseek(FILE *, long, int); long ftell(FILE *); int open(const char *, int, ...);"
    "int close(int);"
    "ssize_t read(int, void *, size_t); off_t lseek(int, off_t, int); int stat(const char *, struct stat *);"
    "int getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **); char *gai_strerror(int);"
    "int fputc(int, FILE *); int fclose(FILE *); FILE *fmemopen(void *, size_t, const char *); FILE *tmpfile(void);"
    "char *setlocale(int, const char *); struct lconv *localeconv(void);"
)
FILE = 'FILE *f = fopen("f", "r"); if (!f) return 1;'
POSSIBLE = {
    "a byte of a file": f"{FILE} char c; if (fread(&c, 1, 1, f) == 1 && c == 'x') reach_error();",
    "less than was asked for": f"{FILE} char b[4]; if (fread(b, 1, 4, f) < 4) reach_error();",
    "an error": f"{FILE} char c; if (fread(&c, 1, 1, f) == 0 && ferror(f)) reach_error();",
    "an end": f"{FILE} if (getc(f) == -1 && feof(f)) reach_error();",
    "a byte of a descriptor": "int d = open(\"f\", 0); char c; if (read(d, &c, 1) == 1 && c == 'x') reach_error();",
    "nothing of a descriptor": 'int d = open("f", 0); char c; if (read(d, &c, 1) < 0) reach_error();',
    "no descriptor": 'if (open("f", 0) < 0) reach_error();',
    "two descriptors": 'int a = open("f", 0), b = open("g", 0); if (a >= 0 && b >= 0) reach_error();',
    "a long file": 'int d = open("f", 0); if (d >= 0 && lseek(d, 0, 2) == 3) reach_error();',
    "a long stream": f"{FILE} fseek(f, 0, 2); if (ftell(f) > 0) reach_error();",
    "a name that is not known": "struct addrinfo *a; if (getaddrinfo(0, 0, 0, &a)) reach_error();",
    "no file of that name": 'struct stat s; if (stat("f", &s) < 0) reach_error();',
    "what is said of an error": "char *s = gai_strerror(1); if (s[0] == 'x') reach_error();",
    "a locale that nobody asks for": 'setlocale(0, ""); if (__VERIFIER_nondet_int()) reach_error();',
    "a byte of a file that another one is written from": (
        'FILE *f = fopen("f", "rb"), *g = fopen("g", "wb"); if (f && g && getc(f) == \'x\') reach_error();'
    ),
}
IMPOSSIBLE = {
    "what is in a device": 'FILE *f = fopen("/dev/zero", "r"); char c; if (f && fread(&c, 1, 1, f) == 1 && c) reach_error();',
    "what is in another device": 'int d = open("/dev/null", 0); char c; if (read(d, &c, 1) == 1) reach_error();',
    "what was written before": (
        "FILE *f = fopen(\"f\", \"w\"); if (!f || fputc('y', f) != 'y' || fclose(f)) return 0;"
        'f = fopen("f", "r"); if (f && getc(f) == \'x\') reach_error();'
    ),
    "what is read and written": (
        "FILE *f = fopen(\"f\", \"w+\"); if (!f || fputc('y', f) != 'y' || fseek(f, 0, 0)) return 0;"
        "if (getc(f) == 'x') reach_error();"
    ),
    "what a descriptor for both is": 'int d = open("f", 2); char c; if (d >= 0 && read(d, &c, 1) == 1) reach_error();',
    "what was opened in a way that is not known": (
        'int d = open("f", __VERIFIER_nondet_int()); char c; if (d >= 0 && read(d, &c, 1) == 1) reach_error();'
    ),
    "what is in memory": 'char b[] = "y"; FILE *f = fmemopen(b, 1, "r"); if (f && getc(f) == \'x\') reach_error();',
    "what is in a file of its own": "FILE *f = tmpfile(); if (f && getc(f) == 'x') reach_error();",
    "more than was asked for": f"{FILE} char b[4]; if (fread(b, 1, 2, f) > 2) reach_error();",
    "more of a descriptor than was asked for": 'int d = open("f", 0); char b[4]; if (read(d, b, 2) > 2) reach_error();',
    "an error before anything": f"{FILE} if (ferror(f)) reach_error();",
    "an end before anything": f"{FILE} if (feof(f)) reach_error();",
    "neither an end nor an error": f"{FILE} if (getc(f) == -1 && !feof(f) && !ferror(f)) reach_error();",
    "an end that all was read before": f"{FILE} char c; if (fread(&c, 1, 1, f) == 1 && feof(f)) reach_error();",
    "one descriptor twice": 'int a = open("f", 0), b = open("g", 0); if (a >= 0 && a == b) reach_error();',
    "a descriptor below all": 'if (open("f", 0) < -1) reach_error();',
    "two ends of a file": 'int d = open("f", 0); if (lseek(d, 0, 2) > 0 && lseek(d, 0, 2) == 0) reach_error();',
    "another place than it was sent to": 'int d = open("f", 0); if (lseek(d, 5, 0) == 6) reach_error();',
    "a byte of no descriptor": 'int d = open("f", 0); char c; if (d < 0 && read(d, &c, 1) == 1) reach_error();',
    "a place in no file": 'int d = open("f", 0); if (d < 0 && lseek(d, 5, 0) == 5) reach_error();',
    "a byte of what was closed": 'int d = open("f", 0); char c; close(d); if (read(d, &c, 1) == 1) reach_error();',
    "a position that nothing led to": f"{FILE} if (ftell(f) > 0) reach_error();",
    "two positions": f"{FILE} fseek(f, 0, 2); if (ftell(f) != ftell(f)) reach_error();",
    "what is known of a name": "struct addrinfo *a; if (getaddrinfo(0, 0, 0, &a) == 0) reach_error();",
    "what is known of a file": 'struct stat s; if (stat("f", &s) == 0 && s.mode == 7) reach_error();',
    "a file that is there twice": 'struct stat s; if (stat("f", &s) > 0) reach_error();',
    "nothing said of an error": "if (!gai_strerror(1)) reach_error();",
    "a byte behind the end": f"{FILE} if (getc(f) == -1 && feof(f) && getc(f) != -1) reach_error();",
    "bytes behind the end": f"{FILE} char b[4]; if (fread(b, 1, 4, f) < 4 && feof(f) && fread(b, 1, 4, f)) reach_error();",
    "a pipe that is moved": "if (lseek(0, 0, 2) == -1 && lseek(0, 0, 0) == 0) reach_error();",
    "a descriptor below one that is open": 'int a = open("f", 0), b = open("g", 0); if (b >= 0 && b < a) reach_error();',
    "a descriptor above all": 'if (open("f", 0) == 2147483647) reach_error();',
    "which locale it is": "char *s = setlocale(0, \"C\"); if (s && s[0] == 'x') reach_error();",
}


def is_confirmed(statements: str) -> bool:
    text = f'# 1 "/usr/include/some.h" 1 3 4\n{HEADER}\n# 1 "p.c" 2\nint main(void) {{ {statements} return 0; }}'
    task = ProgramTask(program_of(text), frozenset({"assertion"}), Effort(seconds=8, states=2_000))
    return isinstance(decide_program(task), Confirmed)


@pytest.mark.parametrize("name", POSSIBLE)
def test_what_a_system_can_do_is_confirmed(name: str) -> None:
    assert is_confirmed(POSSIBLE[name])


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_system_does_is_not_confirmed(name: str) -> None:
    assert not is_confirmed(IMPOSSIBLE[name])
