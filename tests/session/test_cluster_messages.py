"""What goes to another machine and comes back is data that is read into known types: whatever else comes is refused."""

from __future__ import annotations

import pickle
import pickletools
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from distributed.protocol import pickle as sent

from analysis.api import Checker
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.options import Options
from analysis.session.portfolio.request_terms import About, Kept, Terms
from analysis.session.provers.asking.answer import Decided, Invariant, Part, Ran
from analysis.session.provers.asking.program_slices import Contents, Slicer
from analysis.session.provers.asking.question import Question, key_of
from analysis.session.provers.cluster import cluster_worker
from analysis.session.provers.cluster.cluster_messages import MessageError, order_of, read_order, read_reply, reply_of
from analysis.session.provers.cluster.question_packing import pack_question, unpack_question
from analysis.session.provers.cluster.tool_version import tool_version
from analysis.session.provers.processes.task_outcome import Budget, Outcome
from analysis.store.packing import PackingError

_TEXT = """struct node { int key; struct node *next; double weights[3]; };
union pair { long all; char each[8]; };
static struct node first = {1, 0, {1.5}};
static const char *names[] = {"one", "two"};
__int128 wide = 1;
extern int outside(const char *text, ...);
int twice(int n) { switch (n) { case 1: return 2; default: return n * 2; } }
int (*chosen)(int) = twice;
int main(int argc, char **argv)
{
    union pair pair = {argc};
    struct node *at = &first;
    { int inner[2] = {0}; chosen(inner[argc & 1]); }
    while (at && at->key != argc)
        at = at->next;
    return outside(names[0], at->key + pair.each[0]) ? chosen(argc) : *argv[0];
}
"""


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Question:
    file = Path(tmp_path_factory.mktemp("question"), "a.c")
    file.write_text(_TEXT)
    checker = Checker(Options())
    checker.open([str(file)])
    program = checker.inspect().program
    at = ir.Var("at", "local", program.functions["main"].type)
    about = About("finding", ("null-dereference",), "main", 3, at, (("main", 1),), (("main", 2),), ("main", 1))
    slice_ = Slicer(program, ["main"], Contents()).slice("main")
    terms = Terms("ILP32", "predicate", "int", ("allocations-succeed",), True, 7, "none", ("merge=join",))
    return Question(slice_, about, True, terms, 4.0, Kept(b"an earlier proof", True, "another"), "earlier")


def test_the_question_here_has_no_default(question: Question) -> None:
    """So that a field that is added, and not packed, is noticed below."""
    plain = Question(question.program, About("runs", ()), False, Terms(), 0.0)
    for which in ("about", "terms", "kept"):
        assert not alike(getattr(question, which), getattr(plain, which))
    assert alike(question, plain) == ["program"]


def alike(one: Any, other: Any) -> list[str]:
    """The fields that two tuples have alike."""
    return [name for name in one._fields if getattr(one, name) == getattr(other, name)]


def parts(question: Question, table: str) -> dict[str, object]:
    return {name: pickle.loads(data) for name, data in getattr(question.program, table).items()}


def test_a_question_is_the_same_on_the_other_machine(question: Question) -> None:
    there = unpack_question(pack_question(question))
    assert there._replace(program=question.program) == question
    assert all(question._field_defaults[name] != getattr(there, name) for name in question._field_defaults), "no field is lost"
    assert key_of(there) == key_of(question)
    for table in ("globals", "externals", "records"):
        assert parts(there, table) == parts(question, table) != {}
    for name, cfa in parts(question, "functions").items():
        other = parts(there, "functions")[name]
        assert isinstance(cfa, Cfa)
        assert isinstance(other, Cfa)
        assert other.__dict__ == cfa.__dict__


def test_the_same_question_is_the_same_bytes(question: Question) -> None:
    orders = {
        order_of(tool_version(), pack_question(one), Budget()) for one in (question, unpack_question(pack_question(question)))
    }
    assert len(orders) == 1


def test_no_code_travels(question: Question) -> None:
    """Of what Dask is given, one part is the name of a function, and the other is bytes, with no pickle in them."""
    opcodes = [(code.name, argument) for code, argument, _ in pickletools.genops(sent.dumps(cluster_worker.answer))]
    named = [argument for name, argument in opcodes if name == "SHORT_BINUNICODE"]
    assert named == ["analysis.session.provers.cluster.cluster_worker", "answer"]
    assert {name for name, _ in opcodes} <= {"PROTO", "FRAME", "SHORT_BINUNICODE", "MEMOIZE", "STACK_GLOBAL", "STOP"}
    order = order_of(tool_version(), pack_question(question), Budget())
    assert type(order) is bytes
    assert b"\x80\x05" not in read_order(order).question
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(zlib.decompress(order))


class _Trap:
    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return pytest.fail, ("a pickle was read",)


def test_a_pickle_in_place_of_a_part_is_not_read(question: Question) -> None:
    trap = pickle.dumps(_Trap())
    for data in (trap, b"", pack_question(question)[:-1]):
        with pytest.raises(PackingError):
            unpack_question(data)
    for data in (trap, zlib.compress(trap), zlib.compress(b"\x90")):
        with pytest.raises(MessageError):
            read_order(data)
        assert read_reply(cluster_worker.answer(data), 1, question).end == "refused"


def test_terms_that_nobody_knows_are_refused(question: Question) -> None:
    wrong: tuple[dict[str, Any], ...] = ({"engine": "magic"}, {"data_model": "LP128"}, {"assume": ("all is well",)})
    nobody: Any = "nobody"
    others = [question._replace(terms=question.terms._replace(**terms)) for terms in wrong]
    for other in (*others, question._replace(part=nobody)):
        with pytest.raises(PackingError):
            unpack_question(pack_question(other))


def test_another_version_is_refused_in_a_sentence(question: Question) -> None:
    order = order_of("0.0.9 with Python 3.11.2 (abc)", pack_question(question), Budget())
    outcome = read_reply(cluster_worker.answer(order), 7, question)
    assert (outcome.ticket, outcome.end) == (7, "refused")
    assert outcome.detail == (
        f"a worker has another version of Everproof: {tool_version()} instead of 0.0.9 with Python 3.11.2 (abc)"
    )


def test_an_answer_comes_back_as_it_was(question: Question) -> None:
    run = (Ran("main", 3, 0, {"at": "NULL"}),)
    for decided in (Decided("refuted"), Decided("confirmed", steps=run, observed="null"), Decided("possible", reason="why")):
        outcome = Outcome(3, "", decided, "", 5.0, 0.25)
        assert read_reply(reply_of(outcome), 3, question) == outcome
    late = Outcome(3, "time", detail="", ms=5.0, worked=0.25)
    assert read_reply(reply_of(late), 3, question) == late


@pytest.mark.parametrize(
    "decided",
    [
        Decided("proved"),  # type: ignore[arg-type]
        Decided("confirmed"),
        Decided("confirmed", steps=(Ran("elsewhere", 0, 0, {}),)),
        Decided("confirmed", steps=(Ran("main", 9_999, 0, {}),)),
        Decided("refuted", invariants=(Invariant(9_999, "at != 0"),)),
        Decided("refuted", invariants=(Invariant(-1, "at != 0"),)),
        Decided("possible", worked=float("nan")),
        Decided("possible", tried=float("-inf")),
        Decided("possible", states=-1),
        Decided("possible", parts=(Part("division-by-zero", "refuted"),)),
        Decided("possible", parts=(Part("null-dereference", "refuted", functions=("elsewhere",)),)),
    ],
)
def test_what_is_no_answer_to_the_question_is_refused(question: Question, decided: Decided) -> None:
    with pytest.raises(MessageError):
        read_reply(reply_of(Outcome(1, "", decided)), 1, question)


def test_other_types_are_no_reply(question: Question) -> None:
    fake = zlib.compress(msgspec.msgpack.encode({"type": "Reply", "end": "", "answer": b"", "detail": 3, "ms": 0, "worked": 0}))
    for data in (None, "text", Decided("refuted"), fake, reply_of(Outcome(1, "", None))):
        with pytest.raises(MessageError):
            read_reply(data, 1, question)
