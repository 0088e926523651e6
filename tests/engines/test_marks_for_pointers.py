"""A pointer that equals a number is no block: `#define SKIP ((char *)-1)`, and `if (name == SKIP) return;` loses nothing.

Class: special values of pointers that are made of numbers, and numbers that are values themselves.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

BLOCK = """
#include <stdlib.h>
int used(int n)
{
    char *name = malloc(n);
    if (CONDITION)
        return 1;
    free(name);
    return 0;
}
"""
OPENED = """
#include <fcntl.h>
#include <unistd.h>
int used(const char *name)
{
    int fd = open(name, O_RDONLY);
    if (fd == 5)
        return 1;
    close(fd);
    return 0;
}
"""


def leaks(folder: Path, text: str) -> bool:
    path = folder / "a.c"
    path.write_text(text)
    checker = Checker(Options(engine="automaton", rules=("memory-leak", "resource-leak")))
    checker.open([str(path)])
    return bool(checker.check().findings)


@pytest.mark.parametrize("condition", ["name == (char *)-1", "(char *)1 == name", "!(name != (char *)-1L)"])
def test_a_block_is_no_number(tmp_path: Path, condition: str) -> None:
    assert not leaks(tmp_path, BLOCK.replace("CONDITION", condition))


@pytest.mark.parametrize("condition", ["name != (char *)-1", "n == -1", "name[0] == -1"])
def test_a_block_is_lost_where_nothing_says_that_there_is_none(tmp_path: Path, condition: str) -> None:
    assert leaks(tmp_path, BLOCK.replace("CONDITION", condition))


def test_a_descriptor_is_a_number(tmp_path: Path) -> None:
    assert leaks(tmp_path, OPENED)
