"""The class: runs for which a system would have to do what no system does. Not confirmed: arguments of `main` that no program
gets, results of library functions that are the same in each call. Confirmed as before: what some arguments do lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

_END = "{ int z = 0; return 1 / z; } return 0; }\n"
_DIRECTORY = (
    "#include <dirent.h>\n"
    'int main(void) {{ DIR *d = opendir("."); struct dirent *e; if (d && (e = readdir(d)) && {}) '
    + _END.replace("{", "{{").replace("}", "}}")
)
NEVER = {
    "a negative count": "int main(int argc, char **argv) { (void)argv; if (argc < 0) " + _END,
    "no arguments' vector": "int main(int argc, char **argv) { (void)argc; if (argv == 0) " + _END,
    "no name": "int main(int argc, char **argv) { if (argc > 0 && argv[0] == 0) " + _END,
    "more than there are": "int main(int argc, char **argv) { if (argv[argc] != 0) " + _END,
    "one that was counted": "int main(int argc, char **argv) { if (argc > 1) return argv[1][0]; return 0; }\n",
    "more words than fit": "int main(int argc, char **argv) { (void)argv; if (argc == 2147483647) " + _END,
    "one word twice": "int main(int argc, char **argv) { if (argc > 2 && argv[1] == argv[2]) " + _END,
    "a process with two numbers": "#include <unistd.h>\nint main(void) { if (getpid() != getpid()) " + _END,
    "a process of two users": "#include <unistd.h>\nint main(void) { if (getuid() != getuid()) " + _END,
    "a negative parent": "#include <unistd.h>\nint main(void) { if (getppid() < 0) " + _END,
    "two environments": "#include <stdlib.h>\n"
    'int main(void) { char *a = getenv("A"), *b = getenv("A"); if (a && b && a[0] != b[0]) ' + _END,
    "a file without a name": _DIRECTORY.format("e->d_name[0] == 0"),
    "a file whose name is a path": _DIRECTORY.format("e->d_name[0] == '/'"),
    "a user without a name": "#include <pwd.h>\n"
    'int main(void) { struct passwd *p = getpwnam("root"); if (p && p->pw_name == 0) ' + _END,
    "an address of no family": "#include <netdb.h>\n"
    'int main(void) { struct hostent *h = gethostbyname("x"); if (h && h->h_addrtype == 77) ' + _END,
    "two times": "#include <time.h>\nint main(void) { time_t a; time_t b = time(&a); if (a != b) " + _END,
}
SOMETIMES = {
    "a count": "int main(int argc, char **argv) { (void)argv; if (argc == 3) " + _END,
    "a letter": "int main(int argc, char **argv) { if (argc > 1 && argv[1][0] == 'x') " + _END,
    "no variable": '#include <stdlib.h>\nint main(void) { char *a = getenv("A"); if (a == 0) ' + _END,
    "a parent that ends": "#include <unistd.h>\nint main(void) { if (getppid() != getppid()) " + _END,
    "a file with a name": _DIRECTORY.format("e->d_name[0] == 'x'"),
    "a short name": _DIRECTORY.format("e->d_name[0] == 'x' && e->d_name[1] == 0"),
    "a number of a user": "#include <pwd.h>\n"
    'int main(void) { struct passwd *p = getpwnam("root"); if (p && p->pw_uid == 7) ' + _END,
    "a number": "#include <unistd.h>\nint main(void) { if (getpid() == 77) " + _END,
}


def _confirmed(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "a.c"
    file.write_text(text, "utf-8")
    rules = ("division-by-zero", "null-dereference", "array-bounds")
    checker = Checker(Options(rules=rules, proofs=True, everywhere=True), jobs=1)
    checker.open([str(file)])
    checker.check()
    return [finding.rule for finding in checker.prove().findings if finding.status == "confirmed"]


@pytest.mark.parametrize("name", NEVER)
def test_what_no_system_does_is_not_confirmed(tmp_path: Path, name: str) -> None:
    assert _confirmed(tmp_path, NEVER[name]) == []


@pytest.mark.parametrize("name", SOMETIMES)
def test_what_a_system_may_do_is_confirmed(tmp_path: Path, name: str) -> None:
    assert _confirmed(tmp_path, SOMETIMES[name]) == ["division-by-zero"]
