"""A witness and its program as one C program that any verifier can check, as MetaVal makes them ([METAVAL]). What is made here
knows nothing of Everproof: only the format and C.

- Of a violation witness: runs are cut to those whose calls return what its waypoints say, one after the other. What it calls the
  target becomes the only check, named TARGET, and counts only after the last waypoint.
- Of a correctness witness: each invariant is put at its loop, as CBMC's contract of a loop (which CBMC proves by induction), or
  as a check named INVARIANT whenever a run gets there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from analysis.model.verifiers import CHECKS

TARGET, INVARIANT = "target of the witness", "invariant of the witness"
As = Literal["contract", "check"]

_CALL = re.compile(r"(?!(?:if|while|for|switch|return|sizeof)\b)[A-Za-z_]\w*\s*\(")
_LOOP = re.compile(r"(?:while|for|do)\b")
_NAME = re.compile(r"[A-Za-z_]\w*")
_LAST_NAME = re.compile(r"[A-Za-z_]\w*\s*\Z")
_RESULT = re.compile(r"\\result (==|!=) (-?\d+)\Z")
_SKIPPED = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_CLOSES = {"(": ")", "{": "}", "[": "]"}
_STEPS = """\
static unsigned everproof_passed;
static int everproof_holds(int holds) {{ __CPROVER_assert(everproof_passed < {count} || holds, "{target}"); return holds; }}
static void everproof_returned(int place, unsigned long long value) {{
    static const int places[] = {{{places}}};
    static const unsigned long long values[] = {{{values}}};
    static const int equal[] = {{{equal}}};
    if (everproof_passed < {count} && places[everproof_passed] == place) {{
        __CPROVER_assume((value == values[everproof_passed]) == equal[everproof_passed]);
        everproof_passed++;
    }}
}}
"""
_BEFORE_CALL = "__extension__ ({ __auto_type everproof_result = "
_AFTER_CALL = "; everproof_returned({}, (unsigned long long) everproof_result); everproof_result; }})"


class UntranslatedError(Exception):
    """A witness that says something which is not put into a program here; the text is a clause."""


def violating(text: str, entry: Mapping[str, Any]) -> str:
    """The text of a program with what a violation witness says of its runs. Raises UntranslatedError."""
    waypoints = [step["waypoint"] for one in entry["content"] for step in one["segment"]]
    *returned, target = waypoints
    if target["type"] != "target" or any(one["type"] != "function_return" or one["action"] != "follow" for one in waypoints[:-1]):
        raise UntranslatedError("it has waypoints that are neither results nor the target")
    ends = [_offset(text, one["location"]) for one in returned]
    values = [_value(one["constraint"]["value"]) for one in returned]
    numbers = {end: number for number, end in enumerate(sorted(set(ends)))}
    put = [_checked(text, _offset(text, target["location"]))]
    put += [Around(_beginning(text, end), end + 1, _BEFORE_CALL, _AFTER_CALL.format(number)) for end, number in numbers.items()]
    steps = _STEPS.format(
        count=len(values),
        target=TARGET,
        places=", ".join(str(numbers[end]) for end in ends) or "0",
        values=", ".join(f"{value % 2**64}ull" for _, value in values) or "0",
        equal=", ".join(str(int(is_equal)) for is_equal, _ in values) or "0",
    )
    return steps + _with(text, put)


def called(text: str, entry: Mapping[str, Any]) -> list[str]:
    """The functions, or macros, whose results a violation witness names. Raises UntranslatedError."""
    waypoints = [step["waypoint"] for one in entry["content"] for step in one["segment"]]
    if len({one["location"]["file_name"] for one in waypoints}) > 1:
        raise UntranslatedError("it has places in several files")
    begins = [_beginning(text, _offset(text, one["location"])) for one in waypoints if one["type"] == "function_return"]
    return sorted({found[0] for begin in begins if (found := _NAME.match(text, begin))})


def invariant(text: str, entry: Mapping[str, Any], how: As, *, everywhere: bool = False) -> str:
    """The text of a program with the invariants of a correctness witness at their loops; `everywhere`: one that is always true at
    all other loops. Raises UntranslatedError."""
    at_loops: dict[int, list[str]] = {loop: [] for loop in _loops(text)} if everywhere else {}
    for one in entry["content"]:
        said = one["invariant"]
        if said["type"] != "loop_invariant":
            raise UntranslatedError("it has invariants that are at no loop")
        at = _offset(text, said["location"])
        if _LOOP.match(text, at) is None:
            raise UntranslatedError(f"at line {said['location']['line']} no loop begins")
        at_loops.setdefault(at, []).append(f"({said['value']})")
    said_at = _contract if how == "contract" else _check
    return _with(text, [said_at(text, at, " && ".join(conditions) or "1") for at, conditions in at_loops.items()])


def _loops(text: str) -> list[int]:
    """Where the loops of a program begin."""
    begins = [at for at, _ in _tokens(text, 0, nested=True) if _LOOP.match(text, at) and not _is_name(text[at - 1 : at])]
    ends_of_do = {text.rindex("while", 0, _condition(text, at)) for at in begins if text.startswith("do", at)}
    return [at for at in begins if at not in ends_of_do]


def _is_name(before: str) -> bool:
    return before.isalnum() or before == "_"


class Around(NamedTuple):
    """What is put before and after a part of the text; parts may be within each other."""

    begin: int
    end: int
    before: str
    after: str = ""


def _with(text: str, put: Sequence[Around]) -> str:
    """The text with all of this: before a part, what belongs to the longer one comes first, and after it last."""
    before = [(one.begin, 1, -one.end, one.before) for one in put]
    after = [(one.end, 0, -one.begin, one.after) for one in put]
    parts: list[str] = []
    last = 0
    for at, _, _, added in sorted([*before, *after]):
        parts += (text[last:at], added)
        last = at
    return "".join((*parts, text[last:]))


def _offset(text: str, location: Mapping[str, Any]) -> int:
    lines = text.split("\n")
    line, column = int(location["line"]), int(location.get("column", 1))
    if line > len(lines) or column > len(lines[line - 1]):
        raise UntranslatedError(f"the program has no place {line}:{column}")
    return sum(len(one) + 1 for one in lines[: line - 1]) + column - 1


def _value(constraint: str) -> tuple[bool, int]:
    """Whether the result is this number, or is another one; and the number."""
    found = _RESULT.match(constraint)
    if found is None:
        raise UntranslatedError(f"it has the constraint {constraint[:40]!r}")
    return found[1] == "==", int(found[2])


def _checked(text: str, at: int) -> Around:
    """The call at a place, behind the check; of a check that the program makes, what is checked is checked here, too."""
    if _CALL.match(text, at) is None:
        raise UntranslatedError("its target is no call")
    opening = text.index("(", at)
    end = _closing(text, opening)
    if text[at:opening].strip() in CHECKS:
        comma = next((where for where, one in _tokens(text, opening + 1) if one == "," or where >= end), end)
        return Around(opening + 1, comma, "everproof_holds((", ") != 0)")
    return Around(at, end + 1, "(everproof_holds(0), ", ")")


def _beginning(text: str, end: int) -> int:
    """Where the call begins whose closing parenthesis is there."""
    opened = [
        where for where, one in _tokens(text, 0, nested=True) if one == "(" and where < end and _closing(text, where) == end
    ]
    name = _LAST_NAME.search(text, 0, opened[-1]) if opened else None
    if name is None:
        raise UntranslatedError("a result is not at the closing parenthesis of a call")
    return name.start()


def _contract(text: str, at: int, said: str) -> Around:
    """CBMC's contract stands behind the head of a loop, of `do` behind its condition."""
    end = _closing(text, _condition(text, at)) + 1
    return Around(end, end, f" __CPROVER_loop_invariant({said})")


def _check(text: str, at: int, said: str) -> Around:
    check = f'__CPROVER_assert({said}, "{INVARIANT}");'
    if text.startswith("do", at):
        body = _block(text, at) + 1
        return Around(body, body, f" {check}")
    opening = _condition(text, at)
    begin, end = opening + 1, _closing(text, opening)
    if text.startswith("for", at):
        first, end = [where for where, one in _tokens(text, opening + 1) if one == ";"][:2]
        begin = first + 1
    return Around(begin, end, f" __extension__ ({{ {check} 1; }}) && ({'' if text[begin:end].strip() else '1'}", ")")


def _condition(text: str, at: int) -> int:
    """Where the parenthesis behind `while` or `for` opens, of `do` that of its `while`."""
    if text.startswith("do", at):
        at = _next(text, _closing(text, _block(text, at)) + 1)
    opening = text.find("(", at)
    if opening < 0:
        raise UntranslatedError("a loop has no condition")
    return opening


def _block(text: str, at: int) -> int:
    """Where the block of `do` opens."""
    body = _next(text, at + 2)
    if text[body] != "{":
        raise UntranslatedError("a loop has no block")
    return body


def _next(text: str, at: int) -> int:
    """The place of the next character that is neither white space nor in a comment. Raises UntranslatedError."""
    for where, _ in _tokens(text, at):
        return where
    raise UntranslatedError("the program ends too early")


def _closing(text: str, opening: int) -> int:
    """Where a bracket is closed. Raises UntranslatedError."""
    depth = 0
    for where, one in _tokens(text, opening, nested=True):
        depth += (one in _CLOSES) - (one in _CLOSES.values())
        if depth == 0:
            return where
    raise UntranslatedError("a bracket is not closed")


def _tokens(text: str, at: int, *, nested: bool = False) -> Iterator[tuple[int, str]]:
    """The characters from a place on without white space, comments and literals, and, unless `nested`, without what stands within
    brackets; the closing ones of these count."""
    depth = 0
    while at < len(text):
        skipped = _SKIPPED.match(text, at)
        if skipped is not None:
            at = skipped.end()
            continue
        one = text[at]
        depth -= not nested and one in _CLOSES.values() and depth > 0
        if depth == 0 and not one.isspace():
            yield at, one
        depth += not nested and one in _CLOSES
        at += 1
