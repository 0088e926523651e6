"""Arguments whose values are not modelled, and on which no run depends: they need not be asked for.

The number of a line is such a value wherever it is only reported: lowering leaves open what stands in `__LINE__`'s place.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.c.control import FAILED_ASSERTIONS, SETJMP
from analysis.c.functions import LIBRARY, known
from analysis.cfa.graph import Cfa
from analysis.interpreter.library import MODELLED
from analysis.model import ir
from analysis.model.c_types import Integer


def is_unused(functions: Mapping[str, Cfa], call: ir.Call, position: int) -> bool:
    """Whether a run is the same for all integers that the call passes at this position, up to the text that it prints: the
    called function, one of `functions` or an external one, at most prints it, or passes it on to others that at most do so."""
    argument = call.arguments[position]
    return (
        isinstance(argument, ir.Unknown) and isinstance(argument.type, Integer) and _is_unused(functions, call, position, set())
    )


def _is_unused(functions: Mapping[str, Cfa], call: ir.Call, position: int, seen: set[tuple[str, int]]) -> bool:
    name = ir.direct_callee(call)
    if name is None or name in SETJMP:
        return False
    cfa = functions.get(name)
    if cfa is None:
        is_read = name in MODELLED or (name not in LIBRARY and known(name) is not None)
        return not is_read or name in FAILED_ASSERTIONS or _is_only_printed(name, call, position)
    if (name, position) in seen or position >= len(cfa.parameters):  # one of `...`: what `va_arg` gives is asked for
        return True
    seen.add((name, position))
    parameter = cfa.parameters[position]
    return isinstance(parameter.type, Integer) and _is_only_passed_on(functions, cfa, parameter.name, seen)


def _is_only_printed(name: str, call: ir.Call, position: int) -> bool:
    """Whether a call of the library formats the argument, and neither returns how long that is nor writes it into an object."""
    function = known(name)
    if function is None or function.format is None or call.result is not None:
        return False
    return position > function.format and not function.written


def _is_only_passed_on(functions: Mapping[str, Cfa], cfa: Cfa, parameter: str, seen: set[tuple[str, int]]) -> bool:
    """Whether the function uses the parameter only as an argument, where that is unused as well."""
    for edge in cfa.edges:
        effect = edge.effect
        uses = sum(variable.name == parameter for expr in ir.expressions(effect) for variable in ir.variables(expr))
        if not uses:
            continue
        if not isinstance(effect, ir.Call):
            return False
        passed = [at for at, argument in enumerate(effect.arguments) if _is_variable(ir.strip_casts(argument), parameter)]
        if len(passed) < uses or not all(_is_unused(functions, effect, at, seen) for at in passed):
            return False
    return True


def _is_variable(expr: ir.Expr, name: str) -> bool:
    return isinstance(expr, ir.Var) and expr.name == name
