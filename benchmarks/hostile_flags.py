"""Command lines that try to have a compiler load or run something, or write a file, by a grammar, and their folder.

The folder holds a *canary*: shared objects, programs, response files, specs and configurations, all of which lead to
code that says `CANARY` on its outputs and leaves a file. `benchmarks.canary` gives the command lines to Everproof as
the flags of a build.
"""

from __future__ import annotations

import random
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

CANARY = b"the canary sings"
_SONG = "sang"  # the file that the code leaves, beside the folder

_OBJECT = r"""
#include <fcntl.h>
#include <unistd.h>
int plugin_is_GPL_compatible;
int plugin_init(void *a, void *b) { return 0; }
__attribute__((constructor)) static void sing(void) {
    static const char text[] = "%(canary)s\n";
    int file = open("%(song)s", O_CREAT | O_WRONLY, 0600);
    if (write(1, text, sizeof text - 1) < 0 || write(2, text, sizeof text - 1) < 0 || close(file) < 0) _exit(99);
}
"""
_PROGRAM = "#!/bin/sh\necho '%(canary)s'\necho '%(canary)s' >&2\ntouch '%(song)s'\n"
_OBJECTS = ("payload.so", "payload.bin", "libpayload.so", "X.so", "plugin/payload.so")
_PROGRAMS = ("cc1", "cc1plus", "as", "ld", "collect2", "gcc", "clang", "cc", "program", "bin/cc1", "x86_64-linux-gnu-gcc")
_RESPONSES = {
    "flags.txt": "X -fplugin=./payload.so",
    "clang.txt": "X -load ./payload.so",
    "plain.txt": "-fplugin=./payload.so",
    "driver.txt": "-Xclang -load -Xclang ./payload.so",
    "nested.txt": "X @plain.txt @clang.txt",
    "lines.txt": "X\n-fplugin=./payload.so\n",
    "dirs.txt": "/ -fplugin=./payload.so -wrapper ./program -B.",
    "@flags.txt": "X -fplugin=./payload.so",
    "-h": "X -fplugin=./payload.so",
}
_OTHERS = {
    "specs": "*cpp_options:\n-fplugin=./payload.so\n\n*cc1:\n-fplugin=./payload.so\n",
    "clang.cfg": "-Xclang -load -Xclang ./payload.so\n",
    "vfs.yaml": "{version: 0, roots: []}\n",
    "module.modulemap": 'module X { header "a.h" }\n',
    "a.h": "int a;\n",
    "a.h.gch": "gpch",
    "a.h.pch": "CPCH",
}


def make_folder(root: Path) -> Path:
    """Makes the folder in `root`, which is there; gcc builds the shared objects. Returns the folder."""
    folder = root / "folder"
    for name in ("", "plugin", "bin", "sub"):
        (folder / name).mkdir(parents=True)
    said = {"canary": CANARY.decode(), "song": str(root / _SONG)}
    (root / "payload.c").write_text(_OBJECT % said)
    first = folder / _OBJECTS[0]
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(first), str(root / "payload.c")], check=True)
    for name in _OBJECTS[1:]:
        shutil.copy(first, folder / name)
    for name in _PROGRAMS:
        (folder / name).write_text(_PROGRAM % said)
        (folder / name).chmod(0o755)
    for name, text in (_RESPONSES | _OTHERS).items():
        (folder / name).write_text(text)
    (folder / "link").symlink_to("sub")
    return folder


def has_sung(folder: Path) -> bool:
    """Whether code of the folder has run since it was asked last."""
    song = folder.parent / _SONG
    there = song.exists()
    song.unlink(missing_ok=True)
    return there


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """What is in the folder: names, sizes and times."""
    paths = sorted(folder.rglob("*"))
    return [(str(path.relative_to(folder)), path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths]


# flags, one a line, with what they take: {so} a shared object, {at} a response file, {run} a program, {dir} a folder,
# {out} a file to write
_DANGEROUS = [line.split(" ") for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()]
_CARRIERS = (
    *("-D", "-U", "-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-std=", "--std=", "-ansi", "-O"),
    *("-m32", "-mavx", "-f", "-m", "-W", "-pthread", "-DX=", "-DX", "-DX(a)=", "-DX(a,...)=", "-D X=", "-UX", "-U "),
)  # fmt: skip
_JOINTS = (
    "",
    "",
    "",
    " ",
    "=",
    "\n",
    "\t",
    "\r\n",
    "\\",
    "'",
    '"',
    "@",
    "@./",
    "$(",
    "`",
    "%",
    "%{",
    ",",
    ";",
    "|",
    "\0",
    "\u202e",
    "\ufeff",
    "\x0b",
)
_ENDINGS = (
    "",
    "",
    "",
    "",
    "'",
    '"',
    "\\",
    "\n",
    "\n#include </dev/null>",
    "/*",
    "*/",
    "??/",
    ")",
    "}",
    " ",
    "\x00",
    "\udcff",
    "\ud800",
    "é",
    "\u2028",
)
_HARMLESS = (
    "-DNDEBUG",
    "-DV=1",
    '-DS="a b"',
    "-Isub",
    "-I",
    "-Ilink",
    "-I.",
    "-include",
    "a.h",
    "-std=gnu11",
    "-O2",
    "-DF(x)=x",
    "-UX",
)
_LOOKALIKES = {"-": "\u2010\uff0d\u2212", "@": "\uff20\ufe6b", "=": "\uff1d", "D": "\u0414"}


class Hostile:
    """Draws command lines; the same ones for the same seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)

    def command_lines(self) -> Iterator[list[str]]:
        """The arguments of one command line after another, without the compiler's name."""
        while True:
            words: list[str] = []
            for _ in range(self._random.choice((1, 1, 2, 2, 3, 4, 6))):
                words += self._words()
            yield words

    def single_flags(self) -> Iterator[list[str]]:
        """Flags with what they take, each by itself, as one would write them."""
        while True:
            yield self._dangerous()

    def spelled(self, words: list[str]) -> str:
        """The words as a command of a shell: quoted as they should be, in another way, or not at all."""
        how = self._random.randrange(4)
        if how == 0:
            return " ".join(words)
        if how == 1:
            return " ".join(f'"{word}"' for word in words)
        return shlex.join(words)

    def _words(self) -> list[str]:
        draw = self._random
        kind = draw.randrange(10)
        if kind == 0:
            return [draw.choice(_HARMLESS)]
        if kind <= 3:
            return self._dangerous()
        carrier, danger = draw.choice(_CARRIERS), self._carried()
        if kind == 4:
            return [carrier, danger]
        if kind == 5:
            return [carrier, *self._dangerous()]
        joined = carrier + draw.choice(_JOINTS) + danger + draw.choice(_ENDINGS)
        if kind == 9 and draw.randrange(4) == 0:
            joined = self._odd(joined)
        return [joined]

    def _dangerous(self) -> list[str]:
        return [self._filled(word) for word in self._random.choice(_DANGEROUS)]

    def _carried(self) -> str:
        draw = self._random
        if draw.randrange(3) == 0:
            return "@" + self._filled("{at}")
        if draw.randrange(3) == 0:
            return (
                draw.choice(("X", "a.h", "sub", "c11", "2")) + draw.choice((" ", "\n", "\t", ",")) + " ".join(self._dangerous())
            )
        return draw.choice((" ", "", "\n")).join(self._dangerous())

    def _filled(self, word: str) -> str:
        draw = self._random
        here = draw.choice(("", "./", f"{self._folder}/", "../folder/", "sub/../"))
        return (
            word.replace("{so}", here + draw.choice(_OBJECTS))
            .replace("{at}", here + draw.choice(list(_RESPONSES)))
            .replace("{run}", here + "program")
            .replace("{dir}", here.rstrip("/") or ".")
            .replace("{out}", here + "written")
        )

    def _odd(self, word: str) -> str:
        draw = self._random
        how = draw.randrange(4)
        if how == 0:
            return word * draw.choice((2, 50, 3000))
        if how == 1:
            return "".join(draw.choice(_LOOKALIKES[c]) if c in _LOOKALIKES and draw.randrange(2) else c for c in word)
        if how == 2:
            at = draw.randrange(len(word) + 1)
            return word[:at] + draw.choice(_JOINTS) + word[at:]
        return word + "A" * draw.choice((1000, 140_000))
