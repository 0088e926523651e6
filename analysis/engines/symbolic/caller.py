"""What a run of a function assumes about its callers.

A program without a `main` is entered at the functions that nothing in it calls, with any arguments. What holds for any arguments
is a finding; what needs a null pointer that nothing in the program passes, or a certain content of objects that the program did
not make, rests on the caller, and is not confirmed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from analysis.c.built_in import is_of_compilers
from analysis.c.calls import written_arguments
from analysis.c.functions import Function, known
from analysis.cfa.graph import Program
from analysis.cfa.open_functions import is_main
from analysis.engines.symbolic.command_line import CommandLine
from analysis.engines.symbolic.moment_read import moment_doubt
from analysis.engines.symbolic.positions import moved_end, told_once
from analysis.engines.symbolic.read_files import said_by_program
from analysis.engines.symbolic.start_of_main import surroundings_doubt
from analysis.engines.symbolic.system_records import record_doubt
from analysis.engines.symbolic.task import Target
from analysis.interpreter.inputs import Fresh, InputValue, Object, Question
from analysis.interpreter.library.locks import is_about_lock, is_about_threads
from analysis.interpreter.library.open_results import is_about_result
from analysis.interpreter.machine import ERRNO
from analysis.interpreter.outcome import Replayed
from analysis.model import ir
from analysis.model.c_types import DataModel, Integer, Pointer, Record
from analysis.model.c_types import Function as FunctionType
from analysis.model.spelling import display_name
from analysis.model.verifiers import is_input

_REGISTERING = frozenset(("handler", "registers"))


def doubts(
    program: Program, entry: str, replayed: Replayed, target: Target, model: DataModel, *, is_anywhere: bool = False
) -> str:
    """What the run needs that no caller or outside function need ever do; empty if nothing. `is_anywhere`: it is known to happen
    whatever callers do, so that it is not asked what the entry is passed."""
    for name in _unmodelled(program, replayed):
        return f"{name}() does what the run needs"
    if doubt := _assumed(entry, replayed):
        return doubt
    if doubt := moved_end(program, replayed) or said_by_program(program, replayed) or record_doubt(program, replayed, model):
        return doubt
    if doubt := moment_doubt(program, replayed):
        return doubt
    if is_main(entry) and (doubt := surroundings_doubt(program, entry, replayed, model)):
        return doubt
    line = CommandLine(model.pointer_bits // 8)
    for question, value in replayed.asked:
        line.noted(question, value)
        if is_main(entry) and line.is_end(question):
            continue
        if question.kind == "expression" and question.step < len(replayed.steps) - 1:
            return f"{display_name(question.function)} computes the value that the run needs, in code that is not understood"
        if question.kind == "memory" and question.name == ERRNO:
            return "errno has the value that the run needs"
        if doubt := ("" if is_anywhere else _entry_doubt(entry, question, value)) or _null_doubt(target, question, value):
            return doubt
    return ""


def _assumed(entry: str, replayed: Replayed) -> str:
    """What the run assumes of results, of locks, and of other threads than that of `main`; empty if nothing."""
    said = (
        text
        for text in replayed.assumptions
        if is_about_result(text) or is_about_lock(text) or (is_main(entry) and is_about_threads(text))
    )
    return next(said, "")


def _entry_doubt(entry: str, question: Question, value: InputValue) -> str:
    """The assumptions of an answer about the callers of the entry; `main` has none."""
    if is_main(entry):
        return ""
    if question.kind == "memory" and not isinstance(value, Fresh):
        return f"{display_name(entry)} is called when {_memory(question)} is {_spelled(value)}"
    if question.kind == "parameter" and _is_null_pointer(question, value):
        return f"{display_name(entry)} is called with {question.name} == NULL"
    return ""


def _null_doubt(target: Target, question: Question, value: InputValue) -> str:
    """The assumption of an answer about a null pointer from outside that is dereferenced later; empty if there is none."""
    if target.rule != "null-dereference" or not _is_null_pointer(question, value):
        return ""
    if question.kind == "result" and not _can_be_null(question.name):
        return f"{question.name}(), which has no body, returns NULL"
    if question.kind == "memory":
        return f"{_memory(question)} is NULL, though the program did not set it"
    return ""


def _is_null_pointer(question: Question, value: InputValue) -> bool:
    return isinstance(question.type, Pointer) and value == 0


def _can_be_null(name: str) -> bool:
    """Whether the function returns null whatever its arguments are, if its surroundings are so."""
    function = known(name)
    return is_input(name) or (function is not None and function.null == "?" and not function.gives_block)


def _writes(name: str) -> bool:
    """Whether the function, which is of the tables, writes to what it is passed."""
    function = known(name)
    return function is not None and bool(function.written)


def _bounds(name: str) -> tuple[int, int] | None:
    """The least and the greatest result of a function of the system that can return any number between them, as far as a program
    can know (C11 7.21.7, 7.22.2, 7.27.2, POSIX)."""
    function = known(name)
    return (
        None if function is None or function.least is None or function.greatest is None else (function.least, function.greatest)
    )


def _unmodelled(program: Program, replayed: Replayed) -> Iterator[str]:
    """External functions from which the run takes what nobody says that they do: what the system's write, what any computes
    from arguments. (One without arguments is an input.)"""
    answered = {question.name for question, _ in replayed.asked if question.kind in ("result", "written")}
    failed = _failed(replayed)
    for question, value in replayed.asked:
        if question.kind == "result" and not (_is_possible(question, value) and _agrees(program, question, value)):
            yield question.name
        if question.kind == "written" and _contract(program, question.name) is not None:
            yield question.name
    for step in replayed.steps:
        effect = program.functions[step.function].by_id[step.edge].effect
        if isinstance(effect, ir.Call):
            for name in program.targets(effect):
                if name in failed or told_once(program, replayed, name):
                    continue
                if _bounds(name) is not None and written_arguments(name, effect):
                    yield name  # `time` writes there what it returns
                is_open = f"what {name}() does, which has no body" in replayed.assumptions
                if is_open and (_does_more(program, name) or _computes(program, effect, name, is_used=name in answered)):
                    yield name


def _failed(replayed: Replayed) -> frozenset[str]:
    """The functions of the library that failed whenever the run called them, as they may, so that they changed nothing."""
    results: defaultdict[str, list[bool]] = defaultdict(list)
    for question, value in replayed.asked:
        function = known(question.name) if question.kind in ("result", "written") else None
        if function is not None and "fails-unchanged" in function.besides:
            results[question.name].append(question.kind == "result" and value != 0)
    return frozenset(name for name, fails in results.items() if all(fails))


def _does_more(program: Program, name: str) -> bool:
    """Whether it is not known all that a function of the library, or of the system, does: it may run a handler (`raise`), or end
    the run (`kill`, `execl`), so that no run need come back from it. What only registers code does not."""
    function, external = known(name), program.externals.get(name)
    if function is None:
        return external is not None and external.system
    return not function.is_complete and function.besides.isdisjoint(_REGISTERING)


def _computes(program: Program, call: ir.Call, name: str, *, is_used: bool) -> bool:
    """Whether an external function may compute what the run takes from it: a function of the system can write through a pointer
    that it is passed, unless it is known what it does, and any function can return something. `is_used`: the run takes its
    result, or what it wrote."""
    if _bounds(name) is not None or (_can_be_null(name) and not _writes(name)):
        return False
    external, function = program.externals.get(name), known(name)
    is_systems = is_of_compilers(name) or (external is not None and external.system)
    if function is not None and _only_answers(function, is_used=is_used):
        # any descriptor that is not open yet, or -1 (`start_of_main`); any text
        is_used = is_used and function.result != "descriptor" and "message" not in function.besides
    elif is_systems and any(map(_leads_to_data, call.arguments)):
        return True
    gives = is_used or (external is not None and isinstance(external.type.result, Record))
    return gives and (is_systems or bool(call.arguments))


def _only_answers(function: Function, *, is_used: bool) -> bool:
    """Whether all that a run sees of a function of the library is what it returns, if it `is_used`."""
    changes = function.frees or bool(function.written) or bool(function.positions("beneath"))
    is_open = is_used and function.result == "static" and "message" not in function.besides
    return function.leaves_others and not changes and not is_open


def _leads_to_data(argument: ir.Expr) -> bool:
    return isinstance(argument.type, Pointer) and not isinstance(argument.type.target, FunctionType)


def _is_possible(question: Question, value: InputValue) -> bool:
    """Whether a function of the system can return the value."""
    function = known(question.name)
    if function is not None and "message" in function.besides and _is_null_pointer(question, value):
        return False
    possible = _bounds(question.name)
    if possible is None or not isinstance(question.type, Integer) or not isinstance(value, int):
        return True
    least, greatest = possible
    return least <= value <= greatest


def _contract(program: Program, name: str) -> Function | None:
    external = program.externals.get(name)
    return None if external is None else external.contract


def _agrees(program: Program, question: Question, value: InputValue) -> bool:
    """Whether a contract of the project, if there is one, lets the function return the value. Runs follow no more of a contract
    than that: what the function makes, or passes on, is an object of its own there."""
    function = _contract(program, question.name)
    if function is None:
        return True
    if function.result == "number":
        if function.least is None or function.greatest is None:
            return True
        return isinstance(value, int) and function.least <= value <= function.greatest
    return bool(function.null) and _is_null_pointer(question, value)


def claims(entry: str, replayed: Replayed) -> Iterator[str]:
    """Describes how the entry is called, in one sentence for each argument. Returns nothing for `main`."""
    if is_main(entry):
        return
    for question, value in replayed.asked:
        if question.kind == "parameter":
            yield f"{display_name(entry)} is called with {question.name} == {_spelled(value)}"


def _memory(question: Question) -> str:
    name = "what a pointer from outside points to" if question.name.startswith("fresh ") else question.name
    return f"{name} at byte {question.offset}" if question.offset else name


def _spelled(value: InputValue) -> str:
    match value:
        case Fresh():
            return "a pointer to an object of its own"
        case Object(name, offset):
            return f"a pointer to {name}" + (f" + {offset}" if offset else "")
    return str(value)
