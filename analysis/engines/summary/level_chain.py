"""Levels of precision: the cheapest theory that settles a revision answers ([UPPROVER] section 5.2 leaves the choice open)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from analysis.cfa.graph import Program
from analysis.engines.summary.bounded_answer import BoundedAnswer, Level
from analysis.engines.summary.known_bodies import KnownBodies
from analysis.engines.summary.known_calls import KnownCalls
from analysis.engines.summary.partition_abstraction import Abstractions
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.summary_refinement import Status
from analysis.engines.summary.tree_interpolation import Interpolator
from analysis.engines.summary.unwound_program import CannotUnwindError, UnwoundProgram, unwound
from analysis.engines.summary.validation_work import Work
from analysis.model import clock
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.solving.z3_backend import Sharing

LEVELS: tuple[Level, ...] = ("euf", "lra", "int")
_QUICK = 0.2  # seconds of work


class _LeftOut:
    """Whether the bound leaves out no run, as far as the most precise level can tell. That it leaves out some is seen in a
    fraction of the time that a proof takes which summaries make short; so this level is asked first, and not for long."""

    def __init__(self, chain: RevisionChain, unrolled: UnwoundProgram) -> None:
        self._chain, self._unrolled = chain, unrolled
        self._found: Status = "unknown"

    def __call__(self) -> Status:
        self._found = self._chain.leaves_out_no_run(self._unrolled, _QUICK)
        return self._found

    def finally_known(self) -> Status:
        """The same, however long it takes."""
        if self._found == "unknown":
            self._found = self._chain.leaves_out_no_run(self._unrolled)
        return self._found


class LevelChain:
    """Verifies one revision after the other, each by the levels in turn, cheapest first, until one knows. Each level has a chain
    of its own: summaries of one theory say nothing in another. What a level did not see is a change to it later."""

    def __init__(
        self,
        options: ChainOptions,
        levels: Sequence[Level] = LEVELS,
        make: Callable[[Level], Interpolator | None] = lambda _level: None,
        abstractions: Abstractions | None = None,
        bodies: KnownBodies | None = None,
    ) -> None:
        """`abstractions` and `bodies` are those that are known; they save time, and change no answer."""
        self._options = options
        self._bodies = bodies or KnownBodies()
        shared: Abstractions = {} if abstractions is None else abstractions
        self._sharing = Sharing()
        with self._sharing:
            self._chains = {
                level: RevisionChain(msgspec.structs.replace(options, level=level), make(level), shared) for level in levels
            }
        self._numbers: dict[str, int] = {}

    @property
    def known(self) -> KnownCalls:
        """What is kept for the next revision, by this chain or by another one with these options."""
        chains = self._chains.items()
        return KnownCalls(
            {level: chain.known for level, chain in chains},
            dict(self._numbers),
            {level: sorted(chain.to_bound) for level, chain in chains},
        )

    def resume(self, known: KnownCalls, *, are_believed: bool) -> None:
        """Goes on from what another chain kept; see `RevisionChain.resume`."""
        self._numbers = dict(known.numbers)
        for level, chain in self._chains.items():
            chain.resume(known.levels.get(level, {}), known.to_bound.get(level, ()), are_believed=are_believed)

    def verify(self, program: Program) -> BoundedAnswer:
        """The answer of the first level that knows, else of the last one; its `level` says which. Levels that have held
        before come first: there, summaries are only to be validated. Each has its share of the time, so that no level takes it
        all from the next one."""
        with self._sharing:
            return self._verified(program)

    def _verified(self, program: Program) -> BoundedAnswer:
        options, made, found = self._options, dict[Mode, UnwoundProgram](), dict[Level, BoundedAnswer]()
        most_precise = [*self._chains][-1]
        ordered = sorted(self._chains.items(), key=lambda item: not item[1].known)
        for number, (level, chain) in enumerate(ordered):
            mode: Mode = "bv" if level == "bv" else "int"
            try:
                if mode not in made:
                    made[mode] = unwound(
                        program, options.property, options.bound, mode, self._numbers, options.model, self._bodies
                    )
            except CannotUnwindError as error:
                return BoundedAnswer(
                    "unknown", options.property, options.bound, Work(), reasons=(str(error),), level=most_precise
                )
            left_out = _LeftOut(self._chains[most_precise], made[mode])
            with clock.within(clock.part(1 / (len(ordered) - number))):
                found[level] = chain.verify_unwound(made[mode], left_out if level != most_precise else lambda: "unknown")
            if found[level].status != "unknown":
                return self._completed(found[level], left_out)
        return found[most_precise]

    def _completed(self, answer: BoundedAnswer, left_out: _LeftOut) -> BoundedAnswer:
        """The answer of a level, where the most precise one has the last word on whether there are other runs. Else it would
        depend on which level came first, and so on the revisions before."""
        if answer.status != "holds" or answer.is_complete or answer.level == [*self._chains][-1]:
            return answer
        found = left_out.finally_known()
        return msgspec.structs.replace(answer, is_complete=found == "valid", is_final=found != "unknown")
