"""Searches that are done twice on a path: `if (strchr(s, ':')) split(s);`, and `split` looks for the colon again.

A function of the library that writes nothing, such as `strchr`, gives the same answer for the same arguments, as long as nobody
changes what they lead to. Whether somebody does is not asked: that the same was found on the way is evidence, and no proof. The
first argument is what is searched, and is followed back through copies and parameters. The others, of which there is at least
one, say what is looked for, and must be constants.

A character is found in a string that begins with it: `if (path[0] != '/') return; last = strrchr(path, '/');`.

So it is with `getenv("HOME")`, which only some functions of the library change, of which the table does not say all.

`strsep(&s, ",")` finds something as long as there is a string: it gives null only where `s` is. So it counts as found where `s`
was followed before, or tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.c.functions import known
from analysis.c.text_searches import CHARACTER_SEARCHES, SPLITS
from analysis.cfa.graph import Cfa
from analysis.engines.automaton.functions.known_conditions import pointers_followed
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir

_CONSTANT = (ir.IntConst, ir.StringConst)


class _Search:
    """A call that looks for something, followed back along a path in the activation that it is in, and then in its callers.
    `searched`: what the callee's first argument was there, None if it was not there yet; `found`: what is not null between there
    and the call."""

    def __init__(self, call: ir.Call) -> None:
        self.call = call
        self.searched: ir.Expr | None = call.arguments[0]
        self.found: set[ir.Expr] = set()

    def enter_caller(self, effect: ir.Effect, callee: Cfa) -> None:
        """Goes from a function that was called to the call, which becomes part of the path."""
        passed = zip(callee.parameters, effect.arguments if isinstance(effect, ir.Call) else (), strict=False)
        if not isinstance(self.searched, _CONSTANT):
            self.searched = next((argument for parameter, argument in passed if parameter == self.searched), None)
        self.found = set()

    def is_done_by(self, effect: ir.Effect) -> bool:
        """Whether an effect is the same search, with a result that was found not to be null behind it; or the search is for a
        character, and this is the branch where the string begins with it."""
        if isinstance(effect, ir.Assume):
            return ir.direct_callee(self.call) in CHARACTER_SEARCHES and self._begins(effect)
        if not isinstance(effect, ir.Call) or effect.result not in self.found:
            return False
        return effect.callee == self.call.callee and effect.arguments == (self.searched, *self.call.arguments[1:])

    def _begins(self, branch: ir.Assume) -> bool:
        """Whether the branch says that the first character of the string is the one that is looked for."""
        condition = branch.condition
        if not isinstance(condition, ir.Binary) or condition.operator != ("==" if branch.truth else "!="):
            return False
        first, character = ir.strip_casts(condition.left), ir.strip_casts(condition.right)
        is_same = isinstance(character, ir.IntConst) and character == ir.strip_casts(self.call.arguments[1])
        return is_same and isinstance(first, ir.Deref) and ir.strip_casts(first.pointer) == self.searched

    def go_before(self, effect: ir.Effect) -> None:
        """Goes from behind an effect to the state before it."""
        match effect:
            case ir.Assume():
                self.found |= not_null(effect)
            case ir.Call(result=ir.Var() as result):
                self.found.discard(result)
                self.searched = None if result == self.searched else self.searched
            case ir.Assign():
                self.found |= {effect.value} if effect.target in self.found else set()
                self.found.discard(effect.target)
                self.searched = effect.value if effect.target == self.searched else self.searched


class _Split:
    """A call of `strsep`, followed back in the same way: `text` is the pointer that it splits at, None if nothing is known of it,
    `is_there` whether it is not null."""

    def __init__(self, call: ir.Call) -> None:
        argument = ir.strip_casts(call.arguments[0])
        self.text: ir.Expr | None = argument.lvalue if isinstance(argument, ir.AddressOf) else None
        self.is_there = False

    def enter_caller(self, effect: ir.Effect, callee: Cfa) -> None:
        """Goes from a function that was called to the call."""
        passed = zip(callee.parameters, effect.arguments if isinstance(effect, ir.Call) else (), strict=False)
        given = next((argument for parameter, argument in passed if parameter == self.text), None)
        self.text = None if given is None else ir.strip_casts(given)

    def go_before(self, effect: ir.Effect) -> None:
        """Goes from behind an effect to the state before it."""
        self.is_there = self.text in pointers_followed(effect)
        if isinstance(effect, ir.Assume):
            self.is_there = self.is_there or self.text in not_null(effect)
        elif (isinstance(effect, ir.Call) and self.text == effect.result) or _is_passed(effect, self.text):
            self.text = None
        elif isinstance(effect, ir.Assign) and self.text == effect.target:
            value = ir.strip_casts(effect.value)
            self.is_there = isinstance(value, ir.Binary | ir.AddressOf | ir.StringConst)  # `s + 1`: null is moved nowhere
            self.text = value


def is_split(functions: Mapping[str, Cfa], path: Sequence[Taken], number: int) -> bool:
    """Whether step `number` of a path calls `strsep` for a string that is there."""
    own = path[number]
    call = functions[own.function].by_id[own.edge].effect
    if not isinstance(call, ir.Call) or ir.direct_callee(call) not in SPLITS or not call.arguments:
        return False
    split = _Split(call)
    for taken in reversed(path[:number]):
        if split.text is None or split.is_there:
            break
        if taken.depth > own.depth or taken.event not in ("edge", "call", "descent"):
            continue
        effect = functions[taken.function].by_id[taken.edge].effect
        if taken.depth < own.depth:
            split.enter_caller(effect, functions[own.function])
            own = taken
        else:
            split.go_before(effect)
    return split.is_there


def _is_passed(effect: ir.Effect, variable: ir.Expr | None) -> bool:
    """Whether a call is passed the address of a variable, and so can change it."""
    arguments = effect.arguments if isinstance(effect, ir.Call) else ()
    return any(isinstance(one, ir.AddressOf) and one.lvalue == variable for one in map(ir.strip_casts, arguments))


def was_found_before(functions: Mapping[str, Cfa], path: Sequence[Taken], number: int) -> bool:
    """Whether step `number` of a path, a call, looks for what was looked for and found before it."""
    own = path[number]
    call = functions[own.function].by_id[own.edge].effect
    if not isinstance(call, ir.Call) or not _is_repeatable(call):
        return False
    search = _Search(call)
    for taken in reversed(path[:number]):
        if taken.depth > own.depth or taken.event not in ("edge", "call", "descent"):
            continue  # of an activation that is over, or no step of a function
        effect = functions[taken.function].by_id[taken.edge].effect
        if taken.depth < own.depth:
            search.enter_caller(effect, functions[own.function])
            own = taken
        elif search.is_done_by(effect):
            return True
        elif is_of_surroundings(call) and _may_change_it(functions, effect):
            return False
        else:
            search.go_before(effect)
    return False


def _is_repeatable(call: ir.Call) -> bool:
    """Whether the same call gives the same answer (`strtok` does not), and looks for constants."""
    callee = known(ir.direct_callee(call) or "")
    sought = call.arguments if is_of_surroundings(call) else call.arguments[1:]
    leaves_memory = callee is not None and (callee.leaves_memory or is_of_surroundings(call))
    return leaves_memory and bool(sought) and all(isinstance(one, _CONSTANT) for one in map(ir.strip_casts, sought))


def is_of_surroundings(call: ir.Effect | None) -> bool:
    """Whether a call asks the system for what only the program changes (`getenv`)."""
    callee = known(ir.direct_callee(call) or "") if isinstance(call, ir.Call) else None
    return callee is not None and "same" in callee.besides


def _may_change_it(functions: Mapping[str, Cfa], effect: ir.Effect) -> bool:
    """Whether an effect is a call of a function outside of the program of which it is not known all that it does (`setenv`)."""
    name = ir.direct_callee(effect) if isinstance(effect, ir.Call) else None
    callee = known(name or "")
    return name is not None and name not in functions and (callee is None or not callee.is_complete)


def not_null(assumed: ir.Assume) -> set[ir.Expr]:
    """What is not null where a condition holds, if the condition says just that."""
    match assumed.condition:
        case ir.Binary(operator=("==" | "!=") as operator, left=left, right=ir.IntConst(value=0)):
            return {left} if assumed.truth == (operator == "!=") else set()
        case condition:
            return {condition} if assumed.truth else set()
