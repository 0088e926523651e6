"""One path through CFAs as a formula: what holds exactly of the runs that take it.

The values of variables are followed as terms over the path's inputs (the static single assignment of a path, with the definitions
put in), so that a formula has one conjunct for each branch and mentions only what branches depend on.
"""

from __future__ import annotations

from analysis.cfa.graph import Edge, Program
from analysis.model import ir
from analysis.model.c_types import LP64, DataModel
from analysis.smt.encoding.formula import Condition, FailureKind, Formula, Input, Mode
from analysis.smt.terms import Term


class PathEncoder:
    """Follows a path and says what must hold for it to be taken.

        encoder = PathEncoder(program, "int")
        encoder.start("main")
        encoder.take(edge)              # assignments, branches, returns, calls that are not followed
        encoder.enter(edge, "callee")   # a call edge into a body
        ...
        encoder.take(return_edge)
        encoder.leave()                 # back in the caller, the result is assigned

    The order of the edges is the caller's affair: that each starts where the one before ended is not checked.
    """

    def __init__(self, program: Program, mode: Mode = "int", model: DataModel = LP64) -> None:
        self.program = program
        self.mode = mode
        self.model = model

    def start(self, function: str, globals_initialised: bool = True) -> None:
        """Begins a path at the entry of a function; its parameters are inputs. Globals have the values that they start with, or,
        if not `globals_initialised` (the function is not where the program starts), any.

        Raises KeyError when the program does not define the function.
        """
        raise NotImplementedError

    def take(self, edge: Edge) -> None:
        """Goes over an edge of the current function. A call that is taken so is not followed: what it returns and what it can
        write becomes unknown, library functions that are known do what the C standard says."""
        raise NotImplementedError

    def enter(self, edge: Edge, function: str) -> None:
        """Goes over a call edge into the body of a function; its parameters get the arguments.

        Raises ValueError when the edge is no call, KeyError when the program does not define the function.
        """
        raise NotImplementedError

    def leave(self) -> None:
        """Goes back to the caller, after a return edge. ValueError in the function that the path started in."""
        raise NotImplementedError

    @property
    def depth(self) -> int:
        """How many calls are open: 0 in the function that the path started in."""
        raise NotImplementedError

    @property
    def function(self) -> str:
        """The function that the path is in."""
        raise NotImplementedError

    def formula(self) -> Formula:
        """What holds if and only if the path is taken so far (see Formula for what is approximated)."""
        raise NotImplementedError

    def condition_at(self, edge: Edge, kind: FailureKind) -> Condition | None:
        """That the path is taken so far and the edge, taken next, fails in this way; None when it cannot, by its form alone."""
        raise NotImplementedError

    def value(self, expr: ir.Expr) -> Term:
        """A scalar expression at the current point; evaluating it does not change the path."""
        raise NotImplementedError

    def inputs(self) -> tuple[Input, ...]:
        """The inputs so far, in the order in which a run needs them."""
        raise NotImplementedError

    def fork(self) -> PathEncoder:
        """An independent copy, for the other branch. Cheap: what is common is shared."""
        raise NotImplementedError
