"""Chains of revisions of the text of a C file, drawn with a seed: each is an edit of the one before, of a kind that programmers
make. Most leave what the program does as it was, some do not."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from random import Random

_STATEMENT = re.compile(r"^([ \t]+)(\w+) = ([^;={}\n]+);$", re.MULTILINE)
_COMPARED = re.compile(r"\b(if|while) \((\w+) (<=|>=|<|>|==|!=) (\w+)\)")
_WHILE = re.compile(r"(?<!\} )(?<!\}\n)\bwhile \(((?:[^()\n]|\([^()\n]*\))+)\)(?!;)")
_FOR = re.compile(r"\bfor \(; ((?:[^()\n;]|\([^()\n]*\))+);\)")
_DECLARED = re.compile(r"^[ \t]+(?:unsigned )?(?:int|long|char) (\w+)(?: = [^;,]+)?;$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.\"'])\d{1,6}(?![\w.\"'])")
_CALL = re.compile(r"\bextracted_(\d+)\((\w+), (\w+)\)")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": ">=", "!=": "<"}
_TRIES = 20  # for one revision
_BREAKING = 0.25  # of the edits that may be


def revised_texts(text: str, count: int, seed: int, includes: Sequence[str] = (), defines: Sequence[str] = ()) -> Iterator[str]:
    """Yields the text and so many revisions of it, each one edit behind the last; fewer if nothing is left to edit. All of them
    compile."""
    random, options = Random(seed), [*(f"-D{define}" for define in defines), *(f"-I{folder}" for folder in includes)]
    yield text
    for number in range(count):
        for _ in range(_TRIES):
            new = random.choice(_KINDS)(text, random, number)
            if new is not None and new != text and _compiles(new, options):
                text = new
                yield text
                break
        else:
            return


def _compiles(text: str, options: Sequence[str]) -> bool:
    words = ["cc", "-fsyntax-only", "-w", "-std=gnu11", *options, "-x", "c", "-"]
    return not subprocess.run(words, input=text.encode("utf-8", "replace"), capture_output=True, check=False).returncode


def _drawn(pattern: re.Pattern[str], text: str, random: Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text, max(text.find("{"), 0)))
    return random.choice(found) if found else None


def _put(text: str, place: re.Match[str], new: str) -> str:
    return text[: place.start()] + new + text[place.end() :]


def _statement(text: str, random: Random, number: int) -> str | None:
    """A statement is added, or made twice."""
    place = _drawn(_STATEMENT, text, random)
    if place is None:
        return None
    if random.random() < _BREAKING:
        return _put(text, place, f"{place[0]}\n{place[0]}")
    return _put(text, place, f"{place[0]}\n{place[1]}{{ int added_{number} = 0; added_{number} = added_{number} + 1; }}")


def _condition(text: str, random: Random, _number: int) -> str | None:
    """A comparison is turned around, or another one."""
    place = _drawn(_COMPARED, text, random)
    if place is None:
        return None
    if random.random() < _BREAKING:
        return _put(text, place, f"{place[1]} ({place[2]} {_OTHER[place[3]]} {place[4]})")
    return _put(text, place, f"{place[1]} ({place[4]} {_TURNED[place[3]]} {place[2]})")


def _constant(text: str, random: Random, _number: int) -> str | None:
    """A number is another one."""
    place = _drawn(_NUMBER, text, random)
    return None if place is None else _put(text, place, str(int(place[0]) + random.choice((1, 2, 5))))


def _variable(text: str, random: Random, number: int) -> str | None:
    """A variable is introduced for what is assigned."""
    place = _drawn(_STATEMENT, text, random)
    if place is None:
        return None
    return _put(text, place, f"{place[1]}{{ int fresh_{number} = {place[3]}; {place[2]} = fresh_{number}; }}")


def _extracted(text: str, random: Random, number: int) -> str | None:
    """A comparison becomes a function."""
    place = _drawn(_COMPARED, text, random)
    if place is None:
        return None
    function = f"static int extracted_{number}(long one, long other) {{ return one {place[3]} other; }}\n"
    return function + _put(text, place, f"{place[1]} (extracted_{number}({place[2]}, {place[4]}))")


def _inlined(text: str, random: Random, number: int) -> str | None:
    """A function that was extracted is put back where it is called."""
    place = _drawn(_CALL, text, random)
    if place is None:
        return _extracted(text, random, number)
    name = f"extracted_{place[1]}"
    found = re.search(rf"static int {name}\(long one, long other\) {{ return one (\S+) other; }}\n", text)
    if found is None:
        return None
    return re.sub(rf"\b{name}\((\w+), (\w+)\)", rf"\1 {found[1]} \2", text.replace(found[0], "", 1))


def _renamed(text: str, random: Random, number: int) -> str | None:
    """A local variable has another name."""
    place = _drawn(_DECLARED, text, random)
    return None if place is None else re.sub(rf"(?<![.>\w\"]){place[1]}\b(?!\()", f"{place[1]}_{number}", text)


def _loop(text: str, random: Random, number: int) -> str | None:
    """A loop is written in another way."""
    place = _drawn(random.choice((_WHILE, _FOR)), text, random)
    if place is None:
        return _statement(text, random, number)
    return _put(text, place, f"for (; {place[1]};)" if place[0].startswith("while") else f"while ({place[1]})")


_KINDS: tuple[Callable[[str, Random, int], str | None], ...] = (
    _statement,
    _condition,
    _constant,
    _variable,
    _extracted,
    _inlined,
    _renamed,
    _loop,
)
