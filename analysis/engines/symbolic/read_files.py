"""What a run may take a file to hold: anything, unless the program says it.

Files and connections of the outside hold what the run assumes. Not so what the program has written itself, what a device or the
kernel gives (`/dev/zero`), and streams that are no files (`fmemopen`, `pipe`, `tmpfile`): nobody follows what these hold.
"""

from __future__ import annotations

from analysis.c.functions import known
from analysis.c.opening import Purpose, purpose_of_flags, purpose_of_mode
from analysis.cfa.graph import Program
from analysis.frontend.declarations.literal_values import string_bytes
from analysis.interpreter.library import reading, scanning
from analysis.interpreter.outcome import Replayed
from analysis.model import ir

_READING = frozenset(("fgets", *reading.MODELS, *scanning.MODELS)) - {"sscanf", "lseek"}
_PATHS = {"fopen": 0, "open": 0, "openat": 1, "creat": 0}
"""The functions that open files, with the numbers of the arguments that name them; the next one says what for."""
_CONNECTIONS = frozenset(("socket", "accept", "accept4", "fdopen"))
"""`fdopen` gives a stream to what was opened before."""
_OF_SYSTEM = (b"/dev/", b"/proc/", b"/sys/")


def said_by_program(program: Program, replayed: Replayed) -> str:
    """Why what the run reads is not anything; empty if it may be."""
    is_written, reads, doubt = False, False, ""
    for step in replayed.steps:
        call = program.functions[step.function].by_id[step.edge].effect
        name = ir.direct_callee(call) if isinstance(call, ir.Call) else None
        if name is None or not isinstance(call, ir.Call):
            continue
        reads = reads or name in _READING
        if name in _PATHS:
            purpose = _purpose(name, call)
            if purpose == "update" or (is_written and purpose == "read"):
                doubt = doubt or "a file holds something else than what the program has written"
            elif (path := _literal(call.arguments[_PATHS[name]])) is not None and path.startswith(_OF_SYSTEM):
                doubt = doubt or f"{path.decode('utf-8', 'replace')} holds what the run assumes"
            is_written = is_written or purpose != "read"
        elif name not in _CONNECTIONS and (function := known(name)) is not None and function.result in ("stream", "descriptor"):
            doubt = doubt or f"{name}() gives what the run assumes"
    return doubt if reads else ""


def _purpose(name: str, call: ir.Call) -> Purpose:
    """What a file is opened for; for an update where that is not known."""
    if name == "creat":
        return "write"
    how = ir.strip_casts(call.arguments[_PATHS[name] + 1])
    if name == "fopen":
        mode = _literal(how)
        return "update" if mode is None else purpose_of_mode(mode)
    return purpose_of_flags(how.value) if isinstance(how, ir.IntConst) else "update"


def _literal(argument: ir.Expr) -> bytes | None:
    """The characters of a string literal; None of anything else."""
    bare = ir.strip_casts(argument)
    return (string_bytes(bare.text) or b"").partition(b"\0")[0] if isinstance(bare, ir.StringConst) else None
