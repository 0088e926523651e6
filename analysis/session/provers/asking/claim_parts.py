"""The parts of a program that claims are about."""

from __future__ import annotations

from collections.abc import Container, Sequence

from analysis.c.control import STARTS
from analysis.c.functions import is_harmless
from analysis.certificate.ownership.closed_checker import hidden
from analysis.certificate.ownership.obligations import RULES
from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.completeness import keeps_errno
from analysis.cpa.obstacles.kept_buffers import keeping_buffers, may_use_buffers
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.session.portfolio.turns import MOST_EDGES
from analysis.session.provers.asking.claim import Claim
from analysis.session.provers.asking.program_slices import Contents, Slice, Slicer


class ClaimParts:
    """The parts of one program. `reached`: the functions that its entries lead to, without those that are also entered where not
    all runs start from `main` (`elsewhere`). `uncut`: parts hold all of it, so that
    certificates speak of it. `understood`: all of its text parses."""

    def __init__(
        self,
        program: Program,
        entries: Sequence[str],
        contents: Contents,
        *,
        uncut: bool,
        understood: bool,
        however_large: bool,
    ) -> None:
        self._program = program
        self._slicer = Slicer(program, tuple(entries), contents, uncut=uncut)
        self.elsewhere = self._slicer.elsewhere
        self.reached = self._slicer.led_to() - self.elsewhere
        self._uncut = uncut
        self._keeps_errno = keeps_errno(program)
        self._understood = understood
        self._however_large = however_large

    def of(self, claim: Claim, asked: Container[Claim]) -> Slice | None:
        """The part of the program that a claim is about; None where nothing can be proved of it. `asked` are the claims that were
        asked about before."""
        if UNSEEN in self._program.externals and (claim.whole or claim.function == "main" or self._slicer.calls(STARTS)):
            return None  # `main` does not start from the initial values, or not all that runs is called from it
        if self._keeps_errno:
            return None  # any pointer from outside may lead there
        return self._from_entries(claim, asked) if claim.whole else self._below(claim)

    def _below(self, claim: Claim) -> Slice | None:
        """The part of a function by itself, from any state in which it could be called."""
        if self._uncut and claim.function in self.elsewhere:
            return None  # a certificate does not say what other programs can name
        part = self._slicer.below(claim.function)
        if claim.rule in RULES and (not self._understood or hidden(self._program, claim.rule)):
            return None  # the part does not show it
        if not self._understood:
            is_main = claim.function == "main"  # what does not parse may run before it, and give variables other values
            if is_main or any(_may_be_inside(self._program, name) for name in part.externals):
                return None
        return None if self._is_disturbed(part, (claim.function,)) else part

    def _is_disturbed(self, part: Slice, functions: tuple[str, ...]) -> bool:
        """Whether what other functions did before may change what these read, at any time or when they use streams."""
        if keeping_buffers(self._program) and may_use_buffers(part.externals):
            return True
        return beside(self._program).obstacle(functions) is not None

    def _from_entries(self, claim: Claim, asked: Container[Claim]) -> Slice | None:
        """The part from where the program starts. It shows whether other threads are started before."""
        if not self._understood:
            return None
        part = self._slicer.slice(claim.function or MAIN)
        if MAIN in part.entries and (len(part.entries) > 1 or claim.function in self.elsewhere):
            return None  # it is not only called in runs from main
        if part.entries != (MAIN,) and self._is_disturbed(part, part.entries):
            return None  # another entry may have started what runs beside
        if not self._however_large and sum(len(self._program.functions[name].edges) for name in part.functions) > MOST_EDGES:
            return None
        if not part.entries and not self._however_large:
            return None
        own = Claim("function", claim.function, claim.rule, False)
        if part.entries == (claim.function,) and own in asked and claim.function != "main":
            return None  # that was the question before
        return part


def _may_be_inside(program: Program, name: str) -> bool:
    """Whether an external function may be one of the program whose text does not parse: it can write to all variables."""
    external = program.externals[name]
    return not (external.system or is_harmless(name))
