"""What contracts say that callers have to keep of blocks and streams: what the verdict "safe if callers keep" says, and nothing
where no such verdict is given."""

from __future__ import annotations

import msgspec
import pytest

from analysis.cfa.linking.link import link
from analysis.session.contracts.changes import change_text
from analysis.session.contracts.function_contract import FunctionContract
from analysis.session.contracts.program_contracts import ProgramContracts
from analysis.session.contracts.sentences import callers_sentence, sentences
from tests.support.lowered import unit_of

_HEAD = """typedef unsigned long size_t; void *malloc(size_t); void free(void *); typedef struct F FILE; int fclose(FILE *);
struct item { struct item *next; char *name; int n; }; struct item *first; void opaque(void);
"""
_LIVE, _BLOCK = "neither freed nor closed", "a whole block of memory that nothing else frees"
_REACHED = f"expects all that it reaches through pointers in memory to be {_LIVE}"
_FREES = "may free or close what a structure that it is passed leads to"
_TO_CLOSE = "points to what leads to nothing that has to be closed"
_TO_END = "points to what leads to nothing that has to be freed or closed"


def _contract(text: str) -> FunctionContract:
    return ProgramContracts(link([unit_of(_HEAD + text)]).program).of("f").contract


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int f(int n) { return n; }", []),
        ("int f(struct item *p) { return p->n; }", [f"expects `p` to be {_LIVE}"]),
        ("int f(struct item *p) { return p ? p->n : 0; }", [f"expects `p` to be null, or {_LIVE}"]),
        ("int f(struct item *p, struct item *q) { return p->n + (q ? q->n : 0); }", [
            f"expects `p` to be {_LIVE}", f"expects `q` to be null, or {_LIVE}"]),
        ("int f(struct item *p) { return p->next->n; }", [f"expects `p` to be {_LIVE}", _REACHED]),
        ("int f(void) { return first->n; }", [_REACHED]),
        ("int f(void) { opaque(); return first->n; }", []),  # that may free it
        ("int f(void) { int n = first->n; opaque(); return n; }", [_REACHED]),
        ("int fgetc(FILE *); FILE *log; int f(void) { return fgetc(log); }", [_REACHED]),
        ("struct pair { char *p; }; void f(struct pair b) { free(b.p); }", [_FREES]),
        ("void f(struct item *p) { free(p->name); }", [f"expects `p` to be {_LIVE}"]),
        ("int f(struct item *p, struct item *q) { return p->n + q->n; }", [
            f"expects each of `p` and `q` to be {_LIVE}"]),
        # a block that is freed is live, so that the one says the other
        ("void f(char *p) { p[0] = 1; free(p); }", [f"expects `p` to be {_BLOCK}",
            f"may leak unless `p` {_TO_CLOSE}"]),
        ("int f(FILE *s) { return fclose(s); }", [  # an open stream may lead to other blocks
            "expects `s` to be an open stream that nothing else closes",
            f"may leak unless `s` {_TO_END}"]),
        ("void f(struct item *p) { p->next = 0; }", [f"expects `p` to be {_LIVE}",
            f"may leak unless `p` {_TO_END}"]),
        ("void f(struct item *p) { free(p); }", [f"expects `p` to be null, or {_BLOCK}",
            f"may leak unless `p` is null, or {_TO_END}"]),
        # a rule that is violated, whatever callers keep, is left out
        ("void f(char *p) { free(p); free(p); }", [f"may leak unless `p` is null, or {_TO_CLOSE}"]),
        ("int f(struct item *p) { return p->n + first->n; }", [f"expects `p` to be {_LIVE}", _REACHED]),
        # only one of two rules does
        ("void f(struct item *p) { p->next = 0; first = 0; }", [f"expects `p` to be {_LIVE}"]),
        # attributes make functions run before main: nothing is proved
        ("__attribute__((constructor)) static void h(void) { } int f(struct item *p) { return p->n; }", []),
    ],
)  # fmt: skip
def test_what_callers_have_to_keep(text: str, said: list[str]) -> None:
    found = _contract(text)
    assert [one.text for one in found.blocks] == said
    assert {one.text for one in sentences(found)} >= set(said)


def test_to_expect_something_of_blocks_is_not_to_expect_nothing() -> None:
    texts = [one.text for one in sentences(_contract("int f(struct item *p) { return p ? p->n : 0; }"))]
    assert texts[0] == f"expects `p` to be null, or {_LIVE}"
    assert "expects nothing" not in texts


def test_callers_are_not_said_to_keep_what_is_not_looked_at() -> None:
    found = _contract("int f(struct item *p) { return p->n; } int g(void) { static struct item i; return f(&i); }")
    assert callers_sentence(found) == "the only caller keeps what it expects, blocks and streams aside"
    assert callers_sentence(msgspec.structs.replace(found, blocks=())) == "the only caller calls it safely"


def test_an_edit_says_what_is_expected_now() -> None:
    """Unless more is other, from which that follows."""
    before = _contract("int f(const int *p) { return p ? 1 : 0; }")
    now = _contract("int f(const int *p) { return p ? *p : 0; }")
    now = msgspec.structs.replace(before, blocks=now.blocks)
    assert change_text(before, now, 2, 2) == f"contract changed: now also expects `p` to be null, or {_LIVE} — 2 callers"
    assert change_text(now, before, 0, 0) == f"contract changed: no longer expects `p` to be null, or {_LIVE}"
    said = change_text(_contract("int f(int *p) { return 0; }"), _contract("int f(int *p) { return p ? *p != *p : 0; }"), 0, 0)
    assert said == f"contract changed: now returns 0 or 1; now also expects `p` to be null, or {_LIVE}"
    frees = _contract("void f(char *p) { free(p); }")
    assert "expects" not in change_text(_contract("void f(char *p) { }"), frees, 2, 2)


def test_that_a_parameter_must_not_be_null_any_more_changes_nothing_else() -> None:
    before, now = _contract("int f(int *p) { return p ? *p : 0; }"), _contract("int f(int *p) { return *p; }")
    said = change_text(before, now, 0, 0)
    assert "now expects `p != NULL`" in said
    assert "freed" not in said
    assert not [one for one in sentences(now) if "to be null" in one.text]


def test_who_frees_what_it_finds_does_not_expect_nothing() -> None:
    texts = [one.text for one in sentences(_contract("struct pair { char *p; }; void f(struct pair b) { free(b.p); }"))]
    assert _FREES in texts
    assert "expects nothing" not in texts


def test_what_is_read_as_numbers_is_not_kept() -> None:
    head = "int sscanf(const char *, const char *, ...);"
    kept = [
        [
            one.text
            for one in _contract(f"{head} int f(const char *s) {{ int n = 0; char *t; sscanf(s, {text}); return n; }}").ownership
        ]
        for text in ('"%d", &n', '"%ms", &t')
    ]
    assert kept == [[], ["may keep `s`, or pass it on"]]
