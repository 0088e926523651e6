"""The tables of library functions, compared with what the headers of this system say of them: types, and attributes of gcc."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from typing import NamedTuple

import pytest

from analysis.c.declared import agrees
from analysis.c.functions import LIBRARY, Function
from tests.support.lowered import unit_of

HEADERS = """
    alloca aio arpa/inet assert ctype dirent dlfcn errno error fcntl fnmatch getopt grp langinfo locale malloc math mntent
    mqueue netdb poll pthread pwd regex sched search semaphore setjmp signal stdio stdlib string strings sys/epoll
    sys/eventfd sys/file sys/inotify sys/ioctl sys/mman sys/prctl sys/resource sys/select sys/time termios sys/ptrace
    sys/sendfile sys/signalfd sys/socket sys/stat sys/timerfd sys/uio sys/utsname sys/vfs utime sys/wait syslog threads
    time ucontext unistd wchar
"""
_VALUES = frozenset(("n", "size"))
_POINTING = frozenset(("in", "copied", "text", "out", "inout", "link", "handle", "freed", "lock", "format", "scan"))
_WRITTEN = frozenset(("out", "inout", "link"))
_SORTS_CONSTANTS = frozenset(("getopt", "getopt_long", "getopt_long_only"))
"""They move the pointers of an array that they declare constant (GNU C library, "Using the getopt function")."""
_TYPES_LIKE_POINTERS = re.compile(
    r"\b(va_list|__builtin_va_list|__gnuc_va_list|sigjmp_buf|jmp_buf|sighandler_t|__sighandler_t|__compar_fn_t|thrd_start_t"
    r"|__SOCKADDR_ARG|__CONST_SOCKADDR_ARG)\b"
)


class Declared(NamedTuple):
    """A declaration: the parameters as text, whether there are further ones, the attributes as text."""

    result: str
    parameters: tuple[str, ...]
    variadic: bool
    attributes: str

    def has(self, attribute: str) -> bool:
        return re.search(rf"\b(__)?{attribute}(__)?\b", self.attributes) is not None

    def numbers(self, attribute: str) -> list[list[int]]:
        found = re.findall(rf"__{attribute}__\s*\(([^)]*)\)", self.attributes)
        return [[int(number) for number in re.findall(r"\b\d+\b", text)] for text in found]


@cache
def declared() -> dict[str, Declared]:
    """The functions of the tables that headers declare."""
    lines = "".join(f"#if __has_include(<{header}.h>)\n#include <{header}.h>\n#endif\n" for header in HEADERS.split())
    command = ["gcc", "-E", "-P", "-D_GNU_SOURCE", "-O0", "-"]
    text = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    found: dict[str, Declared] = {}
    for match in re.finditer(r"\b(\w+)\s*\((?!\()", text):
        name = match.group(1)
        if name not in LIBRARY or name in found:
            continue
        end = _closing(text, match.end() - 1)
        rest = text[end + 1 : text.index(";", end)]
        start = max(text.rfind(sign, 0, match.start()) for sign in ";}")
        before = text[start + 1 : match.start()]
        if "extern" not in before or "{" in rest:
            continue
        parameters = tuple(map(str.strip, _split(text[match.end() : end])))
        variadic = bool(parameters) and parameters[-1] == "..."
        plain = parameters[:-1] if variadic else parameters
        found[name] = Declared(before, () if plain == ("void",) else plain, variadic, before + rest)
    return found


def _closing(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    raise ValueError("a parenthesis is not closed")


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _is_pointer(parameter: str) -> bool:
    return "*" in parameter or "[" in parameter or _TYPES_LIKE_POINTERS.search(parameter) is not None


def rows() -> list[Function]:
    return [function for function in LIBRARY.values() if function.name in declared()]


pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")


def test_most_functions_are_declared_here() -> None:
    assert len(rows()) > 250


def test_parameters_are_as_declared() -> None:
    wrong = []
    for function in rows():
        here = declared()[function.name]
        words = function.arguments[:-1] if function.is_variadic else function.arguments
        if len(words) != len(here.parameters) or function.is_variadic != here.variadic:
            wrong.append((function.name, here.parameters))
            continue
        for argument, parameter in zip(words, here.parameters, strict=True):
            must_point, is_pointer = argument.uses & _POINTING, _is_pointer(parameter)
            if (must_point and not is_pointer) or (argument.uses <= _VALUES and is_pointer):
                wrong.append((function.name, parameter))
            is_const = re.search(r"\bconst\b[^*]*\*", parameter) is not None
            if argument.uses & _WRITTEN and is_const and function.name not in _SORTS_CONSTANTS:
                wrong.append((function.name, parameter))
    assert wrong == []


def test_parameters_that_are_declared_not_to_be_null_may_not_be_null() -> None:
    wrong = []
    for function in rows():
        for numbers in declared()[function.name].numbers("nonnull"):
            wrong += [(function.name, number) for number in numbers if function.argument(number - 1).nullable]
    assert wrong == []


def test_what_never_returns_is_declared_so() -> None:
    assert [f.name for f in rows() if f.never_returns != declared()[f.name].has("noreturn")] == []


def test_what_is_declared_to_allocate_returns_something_new() -> None:
    new = ("block", "stream", "directory")
    wrong = [f.name for f in rows() if declared()[f.name].has("malloc") and f.result not in new and "allocates" not in f.besides]
    assert wrong == []


def test_pure_functions_write_nothing() -> None:
    for function in rows():
        here = declared()[function.name]
        is_constant = "__const__" in here.attributes  # a result is `const`, too
        if here.has("pure") or is_constant:
            assert not function.written, function.name
            assert not function.keeps, function.name
        if is_constant:
            assert not function.reads, function.name


def test_formats_are_where_they_are_declared() -> None:
    seen = 0
    for function in rows():
        for kind, at, _ in re.findall(
            r"__format__\s*\(__(printf|scanf)__,\s*(\d+),\s*(\d+)\)", declared()[function.name].attributes
        ):
            seen += 1
            assert function.positions("format" if kind == "printf" else "scan") == (int(at) - 1,), function.name
    assert seen > 5


def test_what_returns_twice_is_declared_so() -> None:
    twice = [f for f in rows() if declared()[f.name].has("returns_twice")]
    assert all(not f.besides.isdisjoint(("setjmp", "twice")) for f in twice)


def test_what_is_declared_to_return_no_null_pointer_does_not() -> None:
    assert [f.name for f in rows() if declared()[f.name].has("returns_nonnull") and f.null] == []


def test_results_are_pointers_where_they_are_declared_so() -> None:
    wrong = []
    for function in rows():
        result = declared()[function.name].result
        result = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", result)
        is_pointer = "*" in result or re.search(r"sighandler_t", result) is not None
        says_pointer = function.result not in ("number", "descriptor")
        if is_pointer != says_pointer:
            wrong.append((function.name, result.strip(), function.result))
    assert wrong == []


def test_declarations_in_headers_agree_with_the_tables() -> None:
    lines = "".join(f"#if __has_include(<{header}.h>)\n#include <{header}.h>\n#endif\n" for header in HEADERS.split())
    command = ["gcc", "-E", "-D_GNU_SOURCE", "-O0", "-"]
    text = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    found = [one for one in unit_of(text).externals if one.name in LIBRARY]
    assert len(found) > 250
    passed_by_value = {"fopencookie"}  # a structure of functions
    assert {one.name for one in found if not agrees(one.name, one.type)} <= passed_by_value
