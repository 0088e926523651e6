"""Whole programs."""

from __future__ import annotations

from benchmarks.random_c.more_statements import MoreStatements

PRELUDE = """\
typedef unsigned long size_t;
int printf(const char *, ...);
int snprintf(char *, size_t, const char *, ...);
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
char *strcpy(char *, const char *);
char *strchr(const char *, int);
static void out(const char *name, long long value)
{
    printf("%s=%lld\\n", name, value);
}
"""


class RandomProgram(MoreStatements):
    """Writes one program; `text` holds it, `entry` is the function that runs it. `risk` is how often a guard against undefined
    behaviour is left out."""

    def __init__(self, seed: int, prefix: str, risk: float = 0.02) -> None:
        super().__init__(seed, prefix, risk)
        self.entry = f"{prefix}main"
        self._write_program()
        self.text = "\n".join(self._lines) + "\n"

    def _write_program(self) -> None:
        for _ in range(self._random.randrange(1, 3)):
            self._write_record()
        for _ in range(self._random.randrange(2, 5)):
            self._write_global()
        for number in range(self._random.randrange(1, 4)):
            self._write_pure(recursive=number == 1)
        for _ in range(self._random.randrange(1, 3)):
            self._write_impure()
        self._write_struct_function()
        self._write_main()

    def _write_main(self) -> None:
        self._enter_function([], with_globals=True)
        self._open(f"void {self._prefix}main(void)")
        for _ in range(self._random.randrange(2, 5)):
            self._declare_scalar()
        for _ in range(self._random.randrange(0, 3)):
            self._declare_array()
        for _ in range(self._random.randrange(0, 3)):
            self._declare_record()
        for _ in range(self._random.randrange(3, 8)):
            self._statement(2)
        for value in [*self._local_scalars, *self._globals.scalars]:
            self._line(f'out("{value.text}", {value.text});')
        for name, _, length in self._names.arrays:
            self._line(f'for (int at = 0; at < {length}; at++) out("{name}", {name}[at]);')
        for name, number in self._record_list():
            for member, _, elements in self._records[number][1]:
                self._line(f'out("{name}.{member}", {name}.{member}{"[0]" if elements else ""});')
        self._close()
        self._leave_function()
