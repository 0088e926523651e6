"""Small C programs run by the interpreter of CFAs, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from analysis.cfa.graph import Program
from analysis.cfa.linking.link import LinkedProgram, link
from analysis.interpreter import Bounds, Inputs, Run, Script, Start, execute
from analysis.interpreter.inputs import InputValue
from analysis.model.c_types import LP64, DataModel
from tests.support.lowered import unit_of

PROTOTYPES = """
typedef unsigned long size_t; typedef unsigned long uintptr_t; typedef struct FILE FILE; extern FILE *stderr;
int printf(const char *, ...); int fprintf(FILE *, const char *, ...); int sprintf(char *, const char *, ...);
int snprintf(char *, size_t, const char *, ...); FILE *fopen(const char *, const char *); int fclose(FILE *);
void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *);
void *memcpy(void *, const void *, size_t); void *memmove(void *, const void *, size_t); void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t); void *memchr(const void *, int, size_t);
size_t strlen(const char *); int strcmp(const char *, const char *); int strncmp(const char *, const char *, size_t);
char *strcpy(char *, const char *); char *strncpy(char *, const char *, size_t); char *strcat(char *, const char *);
char *strchr(const char *, int); char *strrchr(const char *, int); char *strstr(const char *, const char *);
char *strdup(const char *); size_t strspn(const char *, const char *); int atoi(const char *);
long strtol(const char *, char **, int); int abs(int);
 double sqrt(double); void exit(int); void abort(void); int setjmp(long *); void longjmp(long *, int);
void __assert_fail(const char *, const char *, unsigned, const char *); void reach_error(void); int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int); int external(int *); void use(void *);
"""


def linked_of(text: str, model: DataModel = LP64) -> LinkedProgram:
    """The linked program of one text, after the prototypes, on the same line, of what it may call."""
    return link([unit_of(" ".join(PROTOTYPES.split()) + text, model=model)])


def program_of(text: str, model: DataModel = LP64) -> Program:
    """The program of one text."""
    return linked_of(text, model).program


def run_of(
    text: str,
    values: Sequence[InputValue] = (),
    *,
    entry: str = "main",
    inputs: Inputs | None = None,
    bounds: Bounds | None = None,
    model: DataModel = LP64,
    any_globals: bool = False,
    past: tuple[Literal["signed-overflow", "uninitialized-read"], ...] = (),
) -> Run:
    """Runs a text, recording the path."""
    start = Start(entry, any_globals, model, past)
    return execute(program_of(text, model), start, inputs or Script(values), bounds or Bounds(output=10_000), record=True)


def main_of(statements: str, globals_: str = "") -> str:
    """A program with these statements in `main`."""
    return f"{globals_} int main(void) {{ {statements} }}"
