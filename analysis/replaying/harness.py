"""The inputs of a run as C: objects that were there, results of functions outside, and the call of the entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from analysis.cfa.linking.obstructed import MAIN
from analysis.model.c_types import Function
from analysis.model.run_inputs import RunStart
from analysis.model.verifiers import CHECKS, is_assumption
from analysis.replaying.given_objects import Objects, is_name, spelled
from analysis.replaying.lock_answers import is_answered, lock_functions
from analysis.replaying.marked_lines import DECLARATIONS, printed
from analysis.replaying.signatures import branches, cuts_pointers, defined
from analysis.replaying.wrappers import Wrappers

FAILING = ("reach_error", "__VERIFIER_error")
"""Functions whose call is a failed assertion, whatever their bodies do."""
MAIN_OF_PROGRAM = "everproof_main_of_the_program"
"""The name of a `main` that the harness takes the place of."""
_WITHOUT_WORDS = f"""
int {MAIN_OF_PROGRAM}(int, char **);
int main(void) {{ static char *none[1]; return {MAIN_OF_PROGRAM}(0, none); }}
"""
_UNSET = "uninitialized-read"


class Harness(NamedTuple):
    """What a program is compiled and run with. `arguments` are those of the command line; `beside` is a C file of its own,
    `wrapped` are the functions that it wraps, `behind` is text behind the unit of the entry; `has_main`: one of both has the
    `main` that is called, which calls the program's. `doubts`: what the run was given and the program is not. `is_cut`: it is
    given pointers by functions without a declaration, of which the program takes the lower half. `externals` are the types of
    functions outside; the `stubs` of those that nothing defines branch on their arguments, if that is asked for."""

    arguments: tuple[bytes, ...]
    beside: str
    wrapped: tuple[str, ...]
    behind: str
    has_main: bool = False
    doubts: tuple[str, ...] = ()
    is_cut: bool = False
    externals: Mapping[str, Function] = {}
    looks: bool = False

    def stub(self, name: str) -> str:
        """The definition of a function that nothing defines, and that no input is about."""
        type_ = self.externals.get(name)
        if name in CHECKS:
            return f"void {name}(int holds) {{ if (!holds) {_failed(name)} }}"
        if is_assumption(name):
            return f"void {name}(int holds) {{ if (!holds) {{ {printed(f'{name} does not hold')} _exit(0); }} }}"
        if name in FAILING:
            return f"void {name}(void) {{ {_failed(name)} }}"
        return defined(name, type_, f"{branches(type_) if self.looks else ''}return 0;")


def harness_for(run: RunStart, externals: Mapping[str, Function], rule: str) -> Harness:
    """The harness of a run that violates a rule, in a program with these functions outside; raises RefusedError."""
    objects = Objects(run)
    entry = spelled(run.entry)
    from_start = entry == MAIN
    looks = rule == _UNSET
    wrappers = Wrappers(run, objects, externals, looks=looks)
    arguments: tuple[bytes, ...] = ()
    behind = before = ""
    if from_start:
        arguments = tuple(objects.words())
        before = _WITHOUT_WORDS if objects.has_no_words else ""
    else:
        given = ", ".join(objects.value(one) for one in run.inputs if one.kind == "parameter")
        call = f"int main(void) {{ {_globals(run, objects)}{entry}({given}); return 0; }}"
        behind = "\n".join(('# 1 "everproof harness"', *objects.declared("extern "), call, ""))
    locks = lock_functions(externals, wrappers.calls, rule, from_start=from_start)
    made = objects.made(wrappers.names)
    head = ("/* made by everproof replay */", DECLARATIONS)
    text = "\n".join((*head, *objects.declared(""), *wrappers.text(), *locks, *made, before))
    return Harness(
        arguments,
        text,
        wrappers.names,
        behind,
        bool(behind or before),
        tuple(_doubts(run, objects)),
        any(one.fresh is not None and one.kind == "result" and cuts_pointers(externals.get(one.name)) for one in run.inputs),
        externals,
        looks,
    )


def answers_locks(harness: Harness) -> bool:
    """Whether the harness looks at the discipline of locks."""
    return any(map(is_answered, harness.externals))


def _failed(name: str) -> str:
    return f"{{ {printed(f'{name} is reached')} __builtin_trap(); }}"


def _doubts(run: RunStart, objects: Objects) -> Iterator[str]:
    """What the run was given that the program cannot be given, as sentences."""
    for one in run.inputs:
        if one.kind in ("expression", "indeterminate"):
            yield f"the run depends on a value that C does not define{f', of {one.name}' if one.name else ''}"
    for name in objects.unknown:
        yield f"the run depends on bytes of {name} that nothing in the program has set"


def _globals(run: RunStart, objects: Objects) -> str:
    """Statements that give variables what they held when the entry was called."""
    held = [one for one in run.inputs if one.kind == "memory" and not one.name.startswith("fresh ") and is_name(one.name)]
    return "".join(f"{objects.stored(f'(char *)&{one.name} + {one.offset}', one)} " for one in held)
