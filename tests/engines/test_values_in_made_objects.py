"""A stream that an object holds which the program has made: it is lost with the object, and closed through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

_HEAD = """#include <stdio.h>
#include <stdlib.h>
struct in { FILE *file; int ok; };
static struct in *all;
static struct in *make(FILE *file)
{
    struct in *in = NULL;
    in = malloc(sizeof *in);
    if (!in)
        return NULL;
    in->ok = 0;
    in->file = file;
    return in;
}
static struct in *keep(FILE *file)
{
    struct in *in = make(file);
    if (!in)
        exit(1);
    all = in;
    return in;
}
static int get(struct in *in) { return fgetc(in->file); }
static void drop(struct in *in) { if (in) free(in); }
static void end(struct in *in) { if (in) { fclose(in->file); free(in); } }
static int use(FILE *file) { BODY }
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[0], "r");
    int left;
    if (!file)
        return 1;
    left = use(file);
    file = NULL;
    while (left--)
        puts("");
    return 0;
}
"""
LOST = {
    "in the function": "struct in *in = malloc(sizeof *in); if (!in) exit(1); in->file = file; free(in); return 0;",
    "made and freed by others": "struct in *in = make(file); if (!in) exit(1); drop(in); return 0;",
    "used in between": "struct in *in = make(file); if (!in) exit(1); int c = get(in); drop(in); return c;",
    "on one path": "struct in *in = make(file); if (!in) exit(1); int c = get(in); if (c < 0) { drop(in); return 0; }"
    " end(in); return c;",
}
CLOSED = {
    "through the object": "struct in *in = make(file); if (!in) exit(1); end(in); return 0;",
    "beside the object": "struct in *in = make(file); if (!in) exit(1); drop(in); fclose(file); return 0;",
    "in the function": "struct in *in = malloc(sizeof *in); if (!in) exit(1); in->file = file; fclose(in->file); free(in);"
    " return 0;",
    "where it is not made": "struct in *in = make(file); if (!in) { fclose(file); return 0; } end(in); return 1;",
    "later, from where it is kept": "struct in *in = keep(file); return get(in);",
}


@pytest.mark.parametrize("name", LOST)
def test_lost_with_the_object(name: str, tmp_path: Path) -> None:
    assert _found(tmp_path, LOST[name]) == ["resource-leak"]


@pytest.mark.parametrize("name", CLOSED)
def test_not_lost(name: str, tmp_path: Path) -> None:
    assert _found(tmp_path, CLOSED[name]) == []


def _found(folder: Path, body: str) -> list[str]:
    path = folder / "a.c"
    path.write_text(_HEAD.replace("BODY", body), encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    return [finding.rule for finding in checker.check().findings]
