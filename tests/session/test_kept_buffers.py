"""Nothing is proved of functions that use streams, where a stream keeps objects or functions of the program.

The class: what a function was given earlier, by another function, is written later by calls that are not passed it. Proofs that
begin in the middle of a run did not see the earlier call: the part of the program that they look at does not have it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session.test_proved_functions import opened, safe, settled
from tests.support.checked import checked

_STREAMS = """typedef unsigned long size_t; typedef struct stream FILE; int fflush(FILE *);
int setvbuf(FILE *, char *, int, size_t); FILE *open_memstream(char **, size_t *);
void setbuf(FILE *, char *); static FILE *out; static char text[512]; static size_t n;
"""
_F = "int f(void) { if (text[0]) { fflush(out); return 10 / text[0]; } return 0; }"


def verdict(tmp_path: Path, text: str) -> str:
    (tmp_path / "a.c").write_text(_STREAMS + text)
    report = checked(tmp_path / "a.c", "division-by-zero", 2.0)
    return next(one.verdicts["division-by-zero"].verdict for one in report.functions if one.name == "f")


@pytest.mark.parametrize(
    "text",
    [
        f"void start(void) {{ setvbuf(out, text, 0, 512); }} {_F}",
        f"void start(void) {{ setbuf(out, text); }} {_F}",
        f"void start(void) {{ out = open_memstream((char **)text, &n); }} {_F}",
        f"int (*give)(FILE *, char *, int, size_t) = setvbuf; {_F}",
    ],
)
def test_a_stream_writes_to_what_it_keeps(tmp_path: Path, text: str) -> None:
    assert verdict(tmp_path, text) != "safe"


@pytest.mark.parametrize(
    "text",
    [
        _F,
        f"void start(void) {{ setvbuf(out, 0, 0, 512); }} {_F}",
        f"void start(void) {{ setbuf(out, 0); }} {_F}",
        f"void start(void) {{ setbuf(out, text); }} {_F.replace('fflush(out);', '')}",
    ],
)
def test_nothing_is_kept_or_no_stream_is_used(tmp_path: Path, text: str) -> None:
    assert verdict(tmp_path, text) == "safe"


def test_an_edit_gives_a_stream_its_buffer(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    text = f"{_STREAMS} void start(void) {{ setbuf(out, 0); }} {_F}"
    file.write_text(text)
    checker = opened(file)
    try:
        checker.check()
        assert safe(settled(checker)) == {"f"}
        checker.change(str(file), text.replace("setbuf(out, 0)", "setbuf(out, text)"), 2)
        checker.check()
        assert safe(settled(checker)) == set()
    finally:
        checker.close()
