"""What a request is about, and on which terms: plain data, which loads no engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from analysis.model import ir
from analysis.model.options import UNWIND, Assumption, Encoding, Engine, Options, Reuse

Kind = Literal["runs", "program", "contracts", "function", "values", "finding"]
"""What a request is: runs of the program against all rules at once; proofs about the program, or a function, rule by rule; proofs
about all functions by the contracts of what they call; those about the values in a function that are left then; or one finding,
to be confirmed or refuted."""
KINDS: tuple[Kind, ...] = get_args(Kind)
Asked = Literal["all", "earlier", "others"]
"""Who is asked: all provers; only whether an earlier proof still holds, or of runs, whether the tree of paths proves; or the
others, after that was asked."""

NOTHING_TO_PROVE = "nothing here could violate it, so nothing was proved"
"""Why what nothing could violate is not called proved."""
ONLY_BY_PATHS = "it can only be proved of a whole small program with main, by following all its paths"
"""Why a rule about the state of memory is not proved of a function by itself."""


def not_provable(rules: Sequence[str]) -> str:
    """Why nothing is proved about rules that no prover has a proof for."""
    return f"no prover can prove {', '.join(rules)} yet: only runs that violate it are looked for"


NOT_FOLLOWED = "the rule is about functions that are called here, and no prover knows what they do"
"""Why provers say nothing of a rule that only a few functions of libraries can violate."""


class About(NamedTuple):
    """The rules that are asked about together, and where: anywhere in the program; in a function; or at an edge of it, where
    `expression` is what would violate the rule, and `path` the edges that are claimed to lead there. At one of `moves`, edges of
    the path, the rule may be violated before: a finding is refuted only if no run violates it there either. `made`: of a leak,
    the call that has made what is lost."""

    kind: Kind
    rules: tuple[str, ...]
    function: str | None = None
    edge: int | None = None
    expression: ir.Expr | None = None
    path: tuple[tuple[str, int], ...] = ()
    moves: tuple[tuple[str, int], ...] = ()
    made: tuple[str, int] | None = None


class Kept(NamedTuple):
    """What an answer about the last revision rests on: summaries of calls (`engines.summary.known_calls`), or proofs
    (`engines.predicate.reuse.earlier_proofs`); and whether a prover of this session has made it. If not, anybody may have. `of`:
    the function that a proof is about, where it is another one, which looks like the one that is asked about."""

    text: bytes = b""
    are_believed: bool = False
    of: str = ""


class Terms(NamedTuple):
    """Which engine is asked, how integers are encoded in proofs, what is assumed, whether the certificates themselves
    are wanted, the bound of answers within a bound, what is taken from earlier proofs, and the operators of symbolic execution if
    only that is tried (`analysis.model.symbolic_operators`)."""

    data_model: Literal["LP64", "ILP32"] = "LP64"
    engine: Engine = "auto"
    encoding: Encoding = "auto"
    assume: tuple[Assumption, ...] = ()
    certificates: bool = False
    unwind: int = UNWIND
    reuse: Reuse = "annotations"
    operators: tuple[str, ...] = ()

    @property
    def allocation_fails(self) -> bool:
        """Whether `malloc` and its like may find no memory."""
        return "allocations-succeed" not in self.assume

    @property
    def outside_writes(self) -> bool:
        """Whether external functions may write to globals."""
        return "externals-keep-globals" not in self.assume


def terms_of(options: Options) -> Terms:
    """The terms that the options say."""
    assume = tuple(sorted(set(options.assume)))
    operators = () if options.operators is None else options.operators.words
    return Terms(
        options.data_model,
        options.engine,
        options.encoding,
        assume,
        options.certificates,
        options.unwind,
        options.reuse,
        operators,
    )
