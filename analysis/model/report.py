"""What a check answers: verdicts, findings with traces, work counters, messages.

The shapes are those of the JSON report, schema 1. `unknown` always has a reason (invariant I2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from analysis.model.evidence import Evidence
from analysis.model.places import Place
from analysis.model.run_inputs import RunStart

Verdict = Literal["safe", "violated", "unknown"]
Severity = Literal["error", "warning", "note"]
StepKind = Literal["entry", "assign", "branch", "call", "return", "havoc", "error"]
FindingStatus = Literal["possible", "confirmed"]
RecheckReason = Literal["scratch", "small", "text", "callee", "summary", "argument", "start", "together", "rule"]

FINGERPRINT_NAME = "everproof/v1"
"""Under which SARIF has the fingerprint of a finding."""

LIKELY = 50
"""A finding of this score or more is shown; one below it only where all findings are asked for."""


class TraceStep(msgspec.Struct, frozen=True, gc=False):
    """One step of a counterexample: an edge taken in `function`, `depth` calls below the entry (which is 0)."""

    place: Place
    function: str
    depth: int
    kind: StepKind
    text: str
    values: dict[str, str] = {}


class Finding(msgspec.Struct, frozen=True, gc=False):
    """A reported violation. `fingerprint` holds no line numbers, so that it survives edits elsewhere.

    `reason`: why a prover could not decide a possible one; None if none was asked, or has answered. `assumptions`: what a
    confirmed one rests on, about the caller for example.

    `score`: how much speaks for it, from 1 to 100; a confirmed one has 100. `reasons` are those of the score, in words. They are
    made of the `evidence` that the engine gave (`analysis.session.scores`). `shown` False: it is held back, and counted.

    `explaining`: the numbers of the steps of the trace that explain it; all do if it is empty. `since`: where the value that it
    is about comes from on this trace, in words. Another trace of the same finding can begin elsewhere, so this is no part of
    the message. `run`: of a confirmed one, what the run was given.

    `at` and `clear` tell it from findings of other versions (`same_findings`): the statement that it is at, and the calls that
    its value comes from; and the statements that certainly have no such error in this version, as numbers of 32 bits.
    """

    rule: str
    status: FindingStatus
    severity: Severity
    message: str
    place: Place
    function: str
    fingerprint: str
    trace: tuple[TraceStep, ...]
    reason: str | None = None
    assumptions: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    score: int = LIKELY
    reasons: tuple[str, ...] = ()
    shown: bool = True
    explaining: tuple[int, ...] = ()
    since: str = ""
    at: tuple[int, ...] = ()
    clear: bytes = b""
    run: RunStart | None = None

    @property
    def said(self) -> str:
        """The message, with where the value comes from."""
        return f"{self.message} (since {self.since})" if self.since else self.message

    @property
    def explanation(self) -> tuple[TraceStep, ...]:
        """The steps of the trace that explain it."""
        return tuple(self.trace[number] for number in self.explaining) if self.explaining else self.trace


class Within(msgspec.Struct, frozen=True, gc=False):
    """What is known of the runs within a `bound`: each loop goes back at most so often, each time that it is entered, and each
    function is active at most so often at once. It is never a proof.

    `holds`: none of these runs violates the rule. `complete`: it is known that there are no other runs. `level`: the theory that
    settled it. Of the `calls` in these runs, so many have `summaries`.
    """

    bound: int
    holds: bool
    complete: bool
    level: str
    calls: int = 0
    summaries: int = 0


def other_runs(*, complete: bool) -> str:
    """What is known of the runs that are not within a bound; `complete` is that of `Within`."""
    return "there are no other runs" if complete else "longer runs were not looked at"


Repaired = Literal["made", "strengthened", "weakened", "lost", "held", "kept"]


class SummaryRepair(msgspec.Struct, frozen=True, gc=False):
    """What the last answer within a bound did with the summaries of a function's calls. They were `made` where there were none;
    validated, and `held`, or were `strengthened`, `weakened`, or `lost`; or `kept`, as nothing made it necessary to look. Of
    several calls, the first of these that is true of any. `above`: how many calls that lead to these were checked again."""

    what: Repaired
    bound: int
    above: int = 0


IF_KEPT = "safe if callers keep: "
"""How the reason begins of what is proved but for what callers have to keep."""

NOT_REPEATED = "a path to a violation is possible, but no run that was tried shows it"
"""Why a violation that a formula gives is not confirmed: formulas leave some things open."""

RECHECKED = "it was proved before the last edit, and is being checked again"
"""The reason of what was proved, while nobody knows whether it still is."""

UNPARSED = "it was proved before the text stopped parsing, and is checked again once it parses"
"""The same, while a part of the text does not parse: proofs of all runs of a program are not looked for then."""

ELSEWHERE = "it was proved elsewhere, and is being checked here"
"""The same, of what another machine has handed over."""

STORED = "it was proved in an earlier session, and is being checked again"
"""The same, of what the store has."""


class ProofReuse(msgspec.Struct, frozen=True, gc=False):
    """What proofs took from those of the revision before: so many `proofs` were found from one. Of the assertions that were there
    (`asserted`) so many were `valid` after the change. `lemmas` are parts of the others, of which these are left. `of`: the
    function whose proof it was, where that is another one, which looks alike."""

    proofs: int = 0
    asserted: int = 0
    valid: int = 0
    lemmas: int = 0
    of: str = ""

    def plus(self, other: ProofReuse) -> ProofReuse:
        """The sum."""
        return ProofReuse(
            self.proofs + other.proofs,
            self.asserted + other.asserted,
            self.valid + other.valid,
            self.lemmas + other.lemmas,
        )


class RuleVerdict(msgspec.Struct, frozen=True, gc=False):
    """What is known of one function for one rule. `entries`: a proof is about calls in runs from these functions only; about all
    calls if it is empty. `certified`: a certificate was accepted; `certificate` is the file that it was
    written to, if one was asked for. `ms` is the time of the engine in milliseconds. `unreached`: the rule is proved of the
    program, and nothing is known of the function because no entry of the program leads to it. `no_place`: nothing in the
    function could violate the rule, by its form alone (`analysis.cpa.obstacles.violable`). Neither keeps a program from being
    safe. `within`: what is known of runs within a bound, where that was asked; the verdict is `unknown` then, or `violated`.
    `repair`: what an answer within a bound took here, which depends on the revisions before. So do these: `reused`, what a proof
    took from that of an earlier revision; `rechecked`, of what was proved before the last edit and is unknown until provers have
    answered; and `broken`, what of an earlier proof does not hold any more, and where, of what is not proved any more."""

    verdict: Verdict
    reason: str | None
    assumptions: tuple[str, ...]
    engine: str
    certified: bool = False
    ms: float = 0.0
    certificate: str | None = None
    unreached: bool = False
    no_place: bool = False
    entries: tuple[str, ...] = ()
    within: Within | None = None
    repair: SummaryRepair | None = None
    reused: ProofReuse | None = None
    rechecked: bool = False
    broken: str | None = None

    @property
    def is_conditional(self) -> bool:
        """Whether it is proved but for what callers have to keep, which the reason says."""
        return self.verdict == "unknown" and self.reason is not None and self.reason.startswith(IF_KEPT)


_MOST_ENTRIES = 3


def as_called(entries: Sequence[str]) -> str:
    """Says which calls a proof is about that is about runs from these entries only."""
    return f"as called from {', '.join(entries)}" if len(entries) <= _MOST_ENTRIES else f"as called from {len(entries)} entries"


class Invariant(msgspec.Struct, frozen=True, gc=False):
    """What holds at the head of a loop whenever a run gets there, in C, as the proof of a rule has it."""

    rule: str
    place: Place
    text: str


class FunctionReport(msgspec.Struct, frozen=True, gc=False):
    """A function and its verdicts by rule. `stale`: it does not parse now, and the verdicts are those of its last good text.

    `summary` is what the engine knows the function to do, one readable line a fact, for hovers; `invariants` are those of its
    loops, where something is proved of it.
    """

    name: str
    place: Place
    verdicts: dict[str, RuleVerdict]
    stale: bool = False
    summary: tuple[str, ...] = ()
    invariants: tuple[Invariant, ...] = ()


class FileReport(msgspec.Struct, frozen=True, gc=False):
    """A checked file; `parse_errors` counts the places where its text is not understood."""

    path: str
    functions: int
    parse_errors: int


class Message(msgspec.Struct, frozen=True, gc=False):
    """One clear sentence about input that could not be used as it was; `line` is 0 when it is about the whole file. `column` and
    `end_column` are the part of the line that it is about; 0 when that is all of it. `syntax`: the text there does not parse, or
    cannot be preprocessed, as it is while somebody types. `unreasoned`: the rule that a comment there would suppress, if it gave
    a reason."""

    severity: Severity
    path: str
    text: str
    line: int = 0
    column: int = 0
    end_column: int = 0
    syntax: bool = False
    unreasoned: str = ""


class Count(msgspec.Struct, frozen=True, gc=False):
    """Units of work, by whether they were taken from earlier or done now."""

    reused: int = 0
    recomputed: int = 0


class SummaryWork(msgspec.Struct, frozen=True, gc=False):
    """What was done to the summaries of calls, of all rules together. So many were `validated` against a body, and of these so
    many `held`. Others were `weakened`, `lost`, or made stronger or anew (`strengthened`)."""

    validated: int = 0
    held: int = 0
    weakened: int = 0
    strengthened: int = 0
    lost: int = 0

    def plus(self, other: SummaryWork) -> SummaryWork:
        """The sum."""
        return SummaryWork(
            self.validated + other.validated,
            self.held + other.held,
            self.weakened + other.weakened,
            self.strengthened + other.strengthened,
            self.lost + other.lost,
        )


class Work(msgspec.Struct, frozen=True, gc=False):
    """Work counters: how much was recomputed, and how much was reused. `functions` counts functions lowered;
    `edges` is the size of the program, in edges of its control-flow automata."""

    configurations: Count = Count()
    derivations: Count = Count()
    abstract_states: Count = Count()
    functions: Count = Count()
    solver_queries: int = 0
    edges: int = 0
    summaries: SummaryWork = SummaryWork()
    reuse: ProofReuse = ProofReuse()


class Rechecked(msgspec.Struct, frozen=True, gc=False):
    """A function that a check looked at again, and why; the functions that are not named were left as they were.

    `scratch`: everything was. `small`: everything was, as the program is small, and more than bodies differs. `text`: its
    body is another one. `callee`: what is known of a function that it calls is other than before (what it writes, whether it
    returns, who tests its result). `summary`: `other`, which it calls, ends in other ways. `argument`: `other`, which calls
    it, begins it in a state that was not seen before. `start`: the program does. `together`: it is in a recursion with one
    that was looked at.
    """

    function: str
    path: str
    reason: RecheckReason
    other: str = ""


class Times(msgspec.Struct, frozen=True, gc=False):
    """Milliseconds by stage. `total` is wall time; stages that ran in several processes can add up to more.

    `link` makes one program of the units; `report` says what is known of each function, and sorts out what is suppressed;
    `afterwards` is all that was done when the first answer to an edit had been given.
    """

    preprocess: float = 0.0
    parse: float = 0.0
    lower: float = 0.0
    link: float = 0.0
    automaton: float = 0.0
    prover: float = 0.0
    report: float = 0.0
    afterwards: float = 0.0
    total: float = 0.0


class Silenced(msgspec.Struct, frozen=True, gc=False):
    """A finding that a comment suppresses, and the reason that the comment gives."""

    finding: Finding
    reason: str


class Report(msgspec.Struct, frozen=True, gc=False):
    """The answer to one check of one revision. `silenced` are the findings that comments suppress. `refuted` counts possible
    findings that provers have shown not to happen, all of them together under the `refuted_under` assumptions;
    `refuted_findings` are their fingerprints."""

    verdict: Verdict
    files: tuple[FileReport, ...]
    functions: tuple[FunctionReport, ...]
    findings: tuple[Finding, ...]
    messages: tuple[Message, ...]
    work: Work
    times: Times
    silenced: tuple[Silenced, ...] = ()
    rechecked: tuple[Rechecked, ...] = ()
    refuted: int = 0
    refuted_under: tuple[str, ...] = ()
    refuted_findings: tuple[str, ...] = ()

    @property
    def suppressed(self) -> int:
        """How many findings comments suppress."""
        return len(self.silenced)

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that are shown."""
        return tuple(finding for finding in self.findings if finding.shown)

    @property
    def held_back(self) -> int:
        """How many findings are not shown."""
        return sum(1 for finding in self.findings if not finding.shown)
