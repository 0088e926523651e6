"""Two programs joined to one, as the combination tasks of [DIFFDP] (section 4.1) are made: `main` chooses one of both.

What a program defines at file level gets a suffix, so that both have names of their own; functions outside keep theirs.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from analysis.frontend.syntax.parser import Node, parse
from analysis.model.verifiers import CHECKS

_WORD = re.compile(rb"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*")
_NAMED = frozenset(("identifier", "type_identifier"))
_OUTSIDE = frozenset(("reach_error",)) | CHECKS
_EMPTY_ERROR = re.compile(rb"\bvoid\s+reach_error\s*\(\s*(?:void)?\s*\)\s*\{[^{}]*\}")
_CHOICE = b"\nint __VERIFIER_nondet_int();\nint main() { if (__VERIFIER_nondet_int()) main__1(); else main__2(); return 0; }\n"


def preprocessed(path: Path, text: str, includes: tuple[str, ...], defines: tuple[str, ...]) -> bytes | None:
    """The text of a file after the preprocessor, without line markers; None if that fails."""
    words = ["cc", "-E", "-P", "-x", "c", *(f"-D{define}" for define in defines)]
    for include in (*includes, str(path.parent)):
        words += ["-I", include]
    done = subprocess.run([*words, "-"], input=text.encode(), capture_output=True, check=False)
    return None if done.returncode else done.stdout


def joined(first: bytes, second: bytes) -> str | None:
    """One program of two that were preprocessed; None if it does not compile."""
    text = b"void reach_error();\n" + _renamed(first, b"__1") + b"\n" + _renamed(second, b"__2") + _CHOICE
    words = ["cc", "-fsyntax-only", "-w", "-std=gnu11", "-x", "c", "-"]
    done = subprocess.run(words, input=text, capture_output=True, check=False)
    return None if done.returncode else text.decode("utf-8", "replace")


def _renamed(text: bytes, suffix: bytes) -> bytes:
    text = _EMPTY_ERROR.sub(b"", text)
    own = frozenset(_defined(parse(text).root)) - {name.encode() for name in _OUTSIDE}

    def with_suffix(word: re.Match[bytes]) -> bytes:
        return word[0] + suffix if word[0] in own else word[0]

    return _WORD.sub(with_suffix, text)


def _defined(root: Node) -> Iterator[bytes]:
    """The names that a file defines: functions, variables, types, tags and constants."""
    for node in root.children:
        words = {child.text for child in node.children if child.type == "storage_class_specifier"}
        if node.type == "function_definition" or node.type == "type_definition":
            yield from _declared(node.child_by_field_name("declarator"))
            yield from (name for one in node.children_by_field_name("declarator") for name in _declared(one))
        elif node.type == "declaration" and b"extern" not in words:
            for one in node.children_by_field_name("declarator"):
                if not _is_function(one):
                    yield from _declared(one)
        yield from _tags(node)


def _is_function(node: Node) -> bool:
    """Whether a declarator declares a function, not a pointer to one."""
    while node.type == "pointer_declarator":
        inner = node.child_by_field_name("declarator")
        if inner is None:
            return False
        node = inner
    inner = node.child_by_field_name("declarator")
    return node.type == "function_declarator" and inner is not None and inner.type == "identifier"


def _declared(node: Node | None) -> Iterator[bytes]:
    while node is not None and node.type not in _NAMED:
        node = node.child_by_field_name("declarator") or next((one for one in node.children if "declarator" in one.type), None)
    if node is not None and node.text is not None:
        yield node.text


def _tags(root: Node) -> Iterator[bytes]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if (
            node.type in ("struct_specifier", "union_specifier", "enum_specifier")
            and node.child_by_field_name("body") is not None
        ):
            name = node.child_by_field_name("name")
            if name is not None and name.text is not None:
                yield name.text
        if node.type == "enumerator":
            name = node.child_by_field_name("name")
            if name is not None and name.text is not None:
                yield name.text
        if node.type != "compound_statement":
            waiting.extend(node.children)
