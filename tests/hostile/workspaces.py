"""The workspaces: a name, what the folder holds, the command, and the words of the sentence that must appear.

Beside what a case puts there, each folder holds `bad.c`, with a null dereference in its line 4, which is found whenever the rest
goes on, and the canary (`canary`)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.hostile.special_files import MAKE, RARE, ROLES, WORDS
from tests.hostile.texts import repeated_words, texts

PARTS = 3_000  # of a text; more than every limit of depth, and than Python's own
MANY = 60_000  # of a text, in the nightly run


class Workspace(NamedTuple):
    """`sentence`: words that standard error holds, or the report; empty if nothing need be said. `goes_on`: the finding in
    `bad.c` is reported all the same."""

    name: str
    make: Callable[[Path], None]
    command: list[str]
    sentence: str = ""
    goes_on: bool = True


def _writing(**files: bytes | str) -> Callable[[Path], None]:
    """Writes files; `__` in a name stands for a dot."""

    def make(folder: Path) -> None:
        for name, content in files.items():
            path = folder / name.replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return make


def workspaces() -> Iterator[Workspace]:
    """All of them but the large ones."""
    yield from _special_files([kind for kind in MAKE if kind not in RARE])
    for name, text in texts(PARTS).items():
        yield Workspace(f"text: {name}", _writing(odd__c=text), ["check", "odd.c", "bad.c"])
    yield from _databases()
    yield from _sources()
    yield from _rules()
    yield from _folders()


def large_workspaces() -> Iterator[Workspace]:
    """Workspaces with very large texts, and with rare kinds of files."""
    yield from _special_files(RARE)
    for name, text in texts(MANY).items():
        yield Workspace(f"large text: {name}", _writing(odd__c=text), ["check", "odd.c", "bad.c"])
    for name, text in repeated_words(4 * MANY).items():
        yield Workspace(f"repeated words: {name}", _writing(odd__c=text), ["check", "odd.c", "bad.c"])
    for name, text in {
        "one line of 14 MB": "int a[]={" + "1," * 7_000_000 + "1};",
        "one sum of 14 MB": "int f(int x){return " + "x+" * 7_000_000 + "x;}",
        "one name of 14 MB": "int " + "x" * 14_000_000 + ";",
        "one string of 14 MB": 'char *s="' + "x" * 14_000_000 + '";',
        "one comment of 14 MB": "/*" + "x" * 14_000_000 + "*/",
        "14 MB of stars": "*" * 14_000_000,
        "14 MB of braces": "{" * 14_000_000,
        "14 MB of parentheses": "(" * 14_000_000,
    }.items():
        yield Workspace(name, _writing(odd__c=text), ["check", "odd.c", "bad.c"])


def _special_files(kinds: Iterable[str]) -> Iterator[Workspace]:
    for role_name, role in ROLES.items():
        for kind in kinds:

            def put(folder: Path, name: str = role.name, make: Callable[[Path], None] = MAKE[kind]) -> None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                make(folder / name)

            sentence = role.otherwise.get(kind, role.begins or WORDS[kind])
            yield Workspace(f"{role_name} is {kind}", put, role.command, sentence, kind not in role.ends)


_DATABASES = {
    "nothing": ("", "it is not valid JSON"),
    "a number": ("3", "it is not a list of entries"),
    "deep lists": ("[" * 100_000, "it is not valid JSON"),
    "a number of many digits": ("[" + "9" * 10_000 + "]", "cannot be used"),
    "NUL bytes": ("\0" * 100, "it is not valid JSON"),
    "text that is not UTF-8": (b"[\xff\xfe]", "it is not valid JSON"),
    "entries that are none": ('[1, null, "x", [], {}]', "5 of the 5 entries"),
    "names that are none": ('[{"directory": 3, "file": {}, "command": []}]', "1 of the 1 entries"),
    "an open quote": ('[{"directory": ".", "file": "bad.c", "command": "cc \\"x"}]', "1 of the 1 entries"),
    "a NUL in a name": ('[{"directory": ".", "file": "bad\\u0000.c", "command": "cc"}]', "1 of the 1 entries"),
    "files that do not exist": ('[{"directory": ".", "file": "gone.c", "command": "cc"}]', ""),
    "a file that is a device": ('[{"directory": ".", "file": "/dev/zero", "command": "cc"}]', ""),
    "the same file very often": (
        json.dumps([{"directory": ".", "file": "bad.c", "command": "cc -DA=1 -c bad.c"}] * 20_000),
        "",
    ),
    "quotes in a macro": (
        json.dumps([{"directory": ".", "file": "bad.c", "arguments": ["cc", '-DA="' + '\\"' * 100_000, "-c", "bad.c"]}]),
        "",
    ),
    "very many arguments": (
        json.dumps([{"directory": ".", "file": "bad.c", "arguments": ["cc", *["-DX=1"] * 100_000, "-c", "bad.c"]}]),
        "",
    ),
}


def _databases() -> Iterator[Workspace]:
    for name, (content, sentence) in _DATABASES.items():
        yield Workspace(f"database: {name}", _writing(compile_commands__json=content), ["check", "bad.c"], sentence)


_SOURCES: dict[str, tuple[bytes, str]] = {
    "NUL bytes": (b"int x\0;", "NUL bytes"),
    "all bytes": (bytes(range(256)) * 20, "NUL bytes"),
    "UTF-16": ("int x;".encode("utf-16"), "NUL bytes"),
    "bytes that are no text": (b"\x80\xff\xfe" * 1000, ""),
    "a byte order mark": (b"\xef\xbb\xbfint x;\n", ""),
    "a backslash at the end": (b"int x;\\", ""),
    "an open comment": (b"int x; /* ", ""),
    "an open string": (b'char *s = "x', ""),
    "a header that is missing": (b'#include "gone.h"\n', "The header 'gone.h' was not found"),
    "many headers that are missing": (b"".join(b'#include "gone%d.h"\n' % n for n in range(60)), "was not found"),
    "itself as a header": (b'#include "odd.c"\n', "nested"),
    "a header outside of the folder": (b'#include "/etc/passwd"\n', ""),
    "a folder as a header": (b'#include "."\n', ""),
    "a name with a new line as a header": (b'#include "a\\nb"\n', "was not found"),
    "an error of its own": (b"#error stop here\n", "stop here"),
    "a pragma of a plugin": (b'#pragma GCC plugin("./payload.so")\n#pragma clang __debug crash\n', ""),
    "odd line numbers": (b'#line 0\n#line 99999999999999999999\n# 5 "x" 9 9 9\nint x;\n', ""),
    "line markers of its own": (b'# 1 "/etc/passwd" 1 3 4\nint x;\n# 2 "bad.c" 2\n', ""),
    "brackets in a macro": (b"#define B {\n#define P (\nint f(void) B return P 1 ); }\n", ""),
    "an expression of a condition": (b"#if " + b"(" * 5000 + b"1" + b")" * 5000 + b"\nint x;\n#endif\n", ""),
    "escapes in a string": (b'char *s = "\\x\\8\\u12\\UFFFFFFFF\\777";\n', ""),
    "control characters": (b"int x; \x1b[2J\x07\x08 int y;\n", ""),
    "right to left": ("int x; /* \u202e } \u2066 */ if (x) {".encode(), ""),
}


def _sources() -> Iterator[Workspace]:
    for name, (content, sentence) in _SOURCES.items():
        yield Workspace(f"source: {name}", _writing(odd__c=content), ["check", "odd.c", "bad.c"], sentence)


_RULES = {
    "aliases": ("a: &x [1]\nb: *x\n", "it uses a YAML alias"),
    "an object of Python's": ("!!python/object/apply:os.system ['touch canary']\n", "This rule file is not used: "),
    "deep lists": ("[" * 5_000, "This rule file is not used: "),
    "a large file": ("#" * 300_000, "it is larger than 256,000 bytes"),
    "bytes that are no text": (b"\xff\xfe\x80", "it is not UTF-8 text"),
    "a wrong type": ("name: 3\n", "This rule file is not used: "),
    "nothing": ("", "This rule file is not used: "),
    "many documents": ("---\n" * 1000, "This rule file is not used: "),
    "a date, a set and a null": ("name: 2020-01-01\nx: !!set {a}\ny: ~\n", "This rule file is not used: "),
}


def _rules() -> Iterator[Workspace]:
    for name, (content, sentence) in _RULES.items():

        def put(folder: Path, content: bytes | str = content) -> None:
            (folder / "rules").mkdir()
            (folder / "rules" / "odd.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())

        yield Workspace(f"rule file: {name}", put, ["check", "--rules-dir", "rules", "bad.c"], sentence)
    for name, (content, sentence) in _RULES.items():
        put_contracts = _writing(**{"__everproof/functions/odd__yaml": content})
        said = sentence.replace("This rule file", "This file of contracts")
        yield Workspace(f"contracts: {name}", put_contracts, ["check", "bad.c"], said)
    for name, content in {"nothing": "", "a list": "[]", "deep": "[" * 50_000, "another schema": '{"schema": 9}'}.items():
        put_known = _writing(known__json=content)
        yield Workspace(
            f"baseline: {name}",
            put_known,
            ["check", "--baseline", "known.json", "bad.c"],
            "The baseline known.json",
            goes_on=False,
        )
        yield Workspace(f"certificate: {name}", put_known, ["certify", "known.json", "bad.c"], "refused: ", goes_on=False)


def _deep(folder: Path) -> None:
    here = folder
    for _ in range(200):
        here = here / "d"
        here.mkdir()
    (here / "deep.c").write_text("int x;\n")


def _linked(folder: Path) -> None:
    (folder / "up").symlink_to("..")
    (folder / "self").symlink_to(".")
    (folder / "root").symlink_to("/")


def _named(*names: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        for name in names:
            (folder / name).write_text("int x;\n")

    return make


def _two_records(folder: Path) -> None:
    (folder / "one.c").write_text("struct a { int i; }; struct b { struct a m; }; struct b x; int f(void) { return x.m.i; }\n")
    (folder / "two.c").write_text("struct b { int i; }; struct a { struct b m; }; struct a y; int g(void) { return y.m.i; }\n")


def _folders() -> Iterator[Workspace]:
    yield Workspace("folder: very deep", _deep, ["check", "."])
    yield Workspace("folder: links to itself and out of it", _linked, ["check", "."])
    yield Workspace("folder: names like options", _named("-o.c", "--help.c", "@flags.c", "-.c"), ["check", "."])
    yield Workspace(
        "folder: names like commands", _named("$(touch x).c", "`x`.c", "a;b.c", "a|b.c", "a\nb.c", "\x1b[2J.c"), ["check", "."]
    )
    yield Workspace("folder: a name that is no text", _named(os.fsdecode(b"caf\xe9\xff.c")), ["check", "."])
    yield Workspace("folder: a long name", _named("x" * 250 + ".c"), ["check", "."])
    yield Workspace("folder: many files", _named(*(f"f{n}.c" for n in range(60))), ["check", "."])
    yield Workspace("folder: records that hold each other in two files", _two_records, ["check", "."])
    yield Workspace(
        "folder: nothing to check",
        lambda folder: (folder / "none").mkdir(),
        ["check", "none"],
        "There is no C file",
        goes_on=False,
    )
    yield Workspace(
        "folder: a folder of rules that is a file",
        _writing(rules="x"),
        ["check", "--rules-dir", "rules", "bad.c"],
        "There is no folder of rules",
    )
    yield Workspace(
        "folder: a folder of headers that is a file",
        _writing(inc="x"),
        ["check", "-I", "inc", "bad.c"],
        "There is no folder inc",
        goes_on=False,
    )
