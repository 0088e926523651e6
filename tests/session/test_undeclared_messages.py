"""A note about functions of the library that a file calls though nothing declares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

HIDDEN = "#ifdef HAVE_CONFIG_H\n#include <stdlib.h>\n#endif\n"


def said(folder: Path, text: str) -> list[tuple[str, int, str]]:
    path = folder / "a.c"
    path.write_text(text)
    checker = Checker(Options())
    checker.open([str(path)])
    return [(message.severity, message.line, message.text) for message in checker.check().messages]


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ("free(malloc(1));", "free() and malloc() are"),
        ("abort();", "abort() is"),
        ("free(malloc(1)); puts(gets(0)); exit(1);", "free(), malloc(), puts() and 2 more are"),
    ],
)
def test_what_is_called_without_a_header_is_named(tmp_path: Path, calls: str, named: str) -> None:
    text = HIDDEN + f"int main(void) {{ {calls} return 0; }}\n"
    where = "called here and declared nowhere: a header is missing, or a flag under which it is included."
    assert said(tmp_path, text) == [("note", 4, f"{named} {where}")]


@pytest.mark.parametrize(
    "text",
    [
        "#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }\n",
        "int main(void) { return own(); }\n",  # another file may define it
        "int main(void) { return __builtin_abs(-1); }\n",
        "int main(void) { return printf(1); }\nint printf(int number) { return number; }\n",
        '# 1 "./abs.h" 1\nint main(void) { return __builtin_abs(-1); }\n',
        'int main(void) { const char *text = "abs(1)"; return text[0] + __builtin_abs(-1); }\n',
        "struct sign { int abs; };\nint main(void) { struct sign one = {0}; return one.abs + __builtin_abs(-1); }\n",
    ],
)
def test_nothing_is_said_of_other_calls(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, text) == []
