"""Which arguments of `main` are not null (C11 5.1.2.2.1p2), by what the program has asked of `argc`.

The class: an argument is taken for one that is there, though another number was asked for, or `argc`, `argv` or the array is
other than at the start. Each program passes one to `f`, which needs it. The traps are run with as many arguments as stand beside
them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analysis.certificate.nonzero.claims import Requirements
from analysis.certificate.nonzero.requirement_checker import check_requirements
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.certificate.refusal import RefusedError
from analysis.cfa.linking.link import link
from tests.support.lowered import unit_of

_PAIR = "struct pair { int a; char *b; };"
_CLEAR = "static void clear(char **of) { of[1] = 0; }"
_OTHER = "static int g(int argc, char **argv) { if (argc < 2) return 0; return f(argv[1]); }"

KEPT = {
    "asked for less": "if (argc < 2) return 0; return f(argv[1]);",
    "asked for more": "return argc >= 3 ? f(argv[2]) : 0;",
    "asked for so many": "if (argc != 3) return 0; return f(argv[1]) + f(argv[2]);",
    "chosen": "switch (argc) { case 2: return f(argv[1]); default: return 0; }",
    "the other way round": "if (1 >= argc) return 0; return f(*(argv + 1));",
    "the first": "if (argc < 1) return 0; return f(argv[0]) + f(*argv);",
    "in a loop": "int n = 0; for (int i = 1; i < argc; i++) n += f(argv[i]); return n;",
    "kept by a variable": "const char *s; if (argc < 2) return 0; s = argv[1]; return f(s);",
    "a structure is made before": "struct pair p = {0, 0}; if (argc < 2) return 0; p.a = 1; return f(argv[1]) + p.a;",
}
TRAPS = {
    "asked for one too few": ("if (argc < 1) return 0; return f(argv[1]);", 0),
    "asked for none": ("return f(argv[1]);", 0),
    "asked the wrong way": ("if (argc > 2) return 0; return f(argv[1]);", 0),
    "asked for another number": ("if (argc != 2) return f(argv[1]); return 0;", 0),
    "the last one": ("if (argc < 2) return 0; return f(argv[2]);", 1),
    "behind the last one": ("int n = 0; for (int i = 1; i <= argc; i++) n += f(argv[i]); return n;", 1),
    "the next one": ("for (int i = 0; i < argc; ) { i++; f(argv[i]); } return 0;", 0),
    "counted up": ("argc++; if (argc < 2) return 0; return f(argv[1]);", 0),
    "moved": ("argv++; if (argc < 2) return 0; return f(argv[1]);", 1),
    "moved after the question": ("if (argc < 2) return 0; argv++; return f(argv[1]);", 1),
    "overwritten": ("argv[1] = 0; if (argc < 2) return 0; return f(argv[1]);", 1),
    "overwritten after the question": ("if (argc < 2) return 0; argv[1] = 0; return f(argv[1]);", 1),
    "overwritten by a copy": ("char **a = argv; a[1] = 0; if (argc < 2) return 0; return f(argv[1]);", 1),
    "overwritten by a callee": ("clear(argv); if (argc < 2) return 0; return f(argv[1]);", 1),
    "overwritten after the question by a callee": ("if (argc < 2) return 0; clear(argv); return f(argv[1]);", 1),
    "another array": ("char *own[3] = {0}; argv = own; if (argc < 2) return 0; return f(argv[1]);", 1),
    "perhaps another array": ("char *own[3] = {0}; if (argc < 2) return 0; if (argc == 2) argv = own; return f(argv[1]);", 1),
    "a copy of argc is asked": ("int n = argc + 1; if (n < 2) return 0; return f(argv[1]);", 0),
    "called again": ("char *none[3] = {0}; if (argc < 2) return 0; if (argc == 2) return main(3, none); return f(argv[1]);", 1),
    "another function": ("char *none[3] = {0}; return argv ? g(3, none) : argc;", 0),
}


def written(body: str) -> str:
    """The program with such a `main`."""
    parts = [_PAIR, "static int f(const char *s) { return s[0]; }"]
    parts += [_CLEAR] if "clear(" in body else []
    parts += [_OTHER] if "g(3" in body else []
    return "\n".join([*parts, f"int main(int argc, char **argv) {{ {body} }}"])


def is_kept(text: str) -> bool:
    """Whether `f` gets what it needs in runs from `main`."""
    program = link([unit_of(text)]).program
    (name,) = (name for name in program.functions if name.endswith("::f"))
    search = RequirementSearch(program, "null-dereference")
    assert search.follow(name)
    assert search.follow_callers(name)
    try:
        return bool(check_requirements(program, Requirements(name, "null-dereference", search.needs(), ("main",))).steps)
    except RefusedError:
        return False


@pytest.mark.parametrize("name", KEPT)
def test_an_argument_that_is_there_is_not_null(name: str) -> None:
    assert is_kept(written(KEPT[name]))


@pytest.mark.parametrize("name", TRAPS)
def test_an_argument_that_may_be_null_is_not_taken_for_one(name: str) -> None:
    assert not is_kept(written(TRAPS[name][0]))


def test_the_traps_are_traps(tmp_path: Path) -> None:
    parts = list[str]()
    for at, (body, _) in enumerate(TRAPS.values()):
        names, text = ("main", "f", "g", "clear", "pair"), written(body)
        parts.append(
            "".join(f"#define {one} {one}_{at}\n" for one in names) + text + "\n" + "".join(f"#undef {one}\n" for one in names)
        )
    cases = "".join(f"case {at}: return main_{at}(argc - 1, argv + 1);\n" for at in range(len(TRAPS)))
    parts.append(f"#include <stdlib.h>\nint main(int argc, char **argv) {{ switch (atoi(argv[1])) {{ {cases} }} return 0; }}\n")
    source = tmp_path / "all.c"
    source.write_text("".join(parts))
    subprocess.run(["gcc", "-w", "-fsanitize=null", "-o", str(tmp_path / "all"), str(source)], check=True, capture_output=True)
    for at, (name, (_, given)) in enumerate(TRAPS.items()):
        done = subprocess.run([str(tmp_path / "all"), str(at), *["x"] * given], capture_output=True, text=True, check=False)
        assert "load of null pointer" in done.stderr, name
