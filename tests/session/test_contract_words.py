"""Contracts and their changes in words, and what is seen of NULL in a function's statements."""

from __future__ import annotations

import msgspec
import pytest

from analysis.cfa.graph import External
from analysis.cfa.linking.link import link
from analysis.model.c_types import Function, Integer, Pointer, Void
from analysis.session.contracts import words
from analysis.session.contracts.changes import change_text, unchanged_text
from analysis.session.contracts.declarations import external, in_one_line, parameter_names
from analysis.session.contracts.function_contract import Clause, FunctionContract, Status
from analysis.session.contracts.library_contracts import library_contract
from analysis.session.contracts.null_results import may_return_null
from analysis.session.contracts.program_contracts import ProgramContracts
from analysis.session.contracts.sentences import callers_sentence, kept_by, sentences
from tests.support.lowered import unit_of

ERRNO, NEW = "`errno`", "a new block, which has to be freed"


def needs(*formulas: str) -> tuple[Clause, ...]:
    return tuple(Clause(f"`{formula}`", formula, "proved", "null-dereference") for formula in formulas)


def says(*texts: str, status: Status = "proved") -> tuple[Clause, ...]:
    return tuple(Clause(text, "", status, "") for text in texts)


def contract(
    requires: tuple[Clause, ...] = (),
    ensures: tuple[Clause, ...] = (),
    writes: tuple[Clause, ...] = (),
    ownership: tuple[Clause, ...] = (),
    callers: tuple[int, int] = (0, 0),
    *,
    returns: bool = True,
) -> FunctionContract:
    return FunctionContract(
        "f", "a.c", 1, "int f(void)", requires, ensures, writes, ownership, returns=returns, callers_discharging=callers
    )


def texts(one: FunctionContract) -> list[str]:
    return [sentence.text for sentence in sentences(one)]


def test_what_callers_have_to_keep_comes_first_and_what_is_written_last() -> None:
    said = contract(
        needs("p != NULL"),
        says("may return NULL", status="seen"),
        says("`a` of `struct s`", ERRNO, "`b` of `struct s`"),
        says("frees `p`"),
    )
    assert [tuple(one) for one in sentences(said)] == [
        ("expects `p != NULL`", "proved"),
        ("may return NULL", "seen in the code"),
        ("frees `p`", "proved"),
        ("writes at most `errno`; `a`, `b` of `struct s`", "proved"),
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (contract(needs("p != NULL", "p != NULL")), ["expects `p != NULL`"]),
        (contract(needs("p != NULL", "p->q != NULL", "p->q->r != NULL")), ["expects `p->q->r != NULL`"]),
        (contract(needs("p != NULL", "*p != NULL")), ["expects `*p != NULL`"]),
        (contract(needs("p != NULL", "p[0] != NULL", "pp != NULL")), ["expects `pp != NULL`", "expects `p[0] != NULL`"]),
        (
            contract(needs("a != NULL", "p->n != NULL", "n != 0", "p->m != NULL", "b == NULL || b->n != NULL")),
            ["expects `a != NULL`, `n != 0`", "expects `p->n != NULL`, `p->m != NULL`", "expects `b == NULL || b->n != NULL`"],
        ),
        (contract(needs("p != NULL", "p == NULL || p->n != 0")), ["expects `p != NULL`", "expects `p == NULL || p->n != 0`"]),
        (
            contract(ownership=says(*(f"may keep `{name}`, or pass it on" for name in "abc"), "frees `d`")),
            ["frees `d`", "may keep `a`, `b` and `c`, or pass them on"],
        ),
        (contract(needs("q == NULL || q->n != NULL", "q->n != NULL")), ["expects `q->n != NULL`"]),
        (contract(ensures=says("may return NULL"), ownership=says(f"returns NULL or {NEW}")), [f"returns NULL or {NEW}"]),
        (contract(ensures=says("never returns NULL"), ownership=says(f"returns {NEW}")), [f"returns {NEW}"]),
        (contract(ensures=says("does not return"), writes=says(ERRNO), returns=False), ["does not return"]),
        (contract(writes=says("anything that it can reach")), ["may write anything that it can reach"]),
        (contract(writes=says("nothing that callers see")), ["writes nothing that callers see"]),
    ],
)
def test_no_sentence_is_implied_by_another_one(given: FunctionContract, said: list[str]) -> None:
    assert texts(given) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("malloc", [f"returns NULL or {NEW}", "writes at most `errno`"]),
        (
            "strcpy",
            [
                "requires arguments 1 and 2 not to be NULL",
                "returns argument 1",
                "writes at most `errno`, what argument 1 points to",
            ],
        ),
        ("free", ["frees argument 1", "writes at most `errno`"]),
        ("fclose", ["requires argument 1 not to be NULL", "closes argument 1", "writes at most `errno`"]),
        ("exit", ["does not return"]),
        (
            "qsort",
            ["requires argument 1 not to be NULL", "may write anything that it can reach"],
        ),
        (
            "scanf",
            ["requires argument 1 not to be NULL", "writes at most `errno`, what argument 2 and those after it point to"],
        ),
    ],
)
def test_the_same_words_for_library_functions(name: str, said: list[str]) -> None:
    found = library_contract(name)
    assert found is not None
    assert texts(found) == said
    assert {one.known for one in sentences(found)} == {"from the table of library functions"}


@pytest.mark.parametrize(
    ("kept", "of", "said"),
    [
        (1, 1, "the only caller keeps what it expects"),
        (0, 1, "the only caller is not proved to keep what it expects"),
        (4, 4, "all 4 callers keep what it expects"),
        (2, 2, "both callers keep what it expects"),
        (3, 4, "1 of 4 callers is not proved to keep what it expects"),
        (1, 4, "3 of 4 callers are not proved to keep what it expects"),
        (0, 2, "neither of the 2 callers is proved to keep what it expects"),
        (0, 3, "none of the 3 callers is proved to keep what it expects"),
    ],
)
def test_how_many_callers_keep_what_is_required(kept: int, of: int, said: str) -> None:
    assert kept_by(kept, of, "what it expects") == said
    safely = said.replace("keeps what it expects", "calls it safely").replace("keep what it expects", "call it safely")
    assert callers_sentence(contract(needs("p != NULL"), callers=(kept, of))) == (safely if kept == of else said)


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (contract(), contract(), ""),
        (
            contract(ensures=says("never returns NULL")),
            contract(ensures=says("may return NULL", status="seen"), callers=(3, 3)),
            "may now return NULL — 3 callers",
        ),
        (contract(ensures=says("never returns NULL")), contract(), "no longer proved never to return NULL"),
        (contract(ensures=says("may return NULL", status="seen")), contract(), ""),
        (
            contract(callers=(4, 4)),
            contract(needs("p != NULL", "n != 0"), says("may return NULL"), callers=(3, 4)),
            "now expects `p != NULL` and `n != 0`: 1 of 4 callers is not proved to keep it; may now return NULL",
        ),
        (contract(writes=says(ERRNO)), contract(writes=says("nothing that callers see")), "no longer writes `errno`"),
        (
            contract(writes=says(ERRNO)),
            contract(writes=says("anything that it can reach"), callers=(1, 1)),
            "may now write anything that it can reach — 1 caller",
        ),
        (contract(writes=says("anything that it can reach")), contract(writes=says(ERRNO)), "now writes only `errno`"),
        (contract(ownership=says("frees `p`")), contract(ownership=says("may free `p`")), "may now free `p`"),
        (contract(ownership=says("may keep `p`, or pass it on")), contract(), "no longer keeps `p`"),
        (
            contract(ownership=says(f"returns {NEW}")),
            contract(ownership=says(f"returns NULL or {NEW}")),
            "may now return NULL",
        ),
        (contract(), contract(ensures=says("does not return"), returns=False), "does not return any more"),
        (
            contract(needs("p != NULL"), writes=says(ERRNO), ownership=says("frees `p`")),
            contract(writes=says("nothing that callers see")),
            "no longer expects `p != NULL`; no longer frees `p`; 1 more",
        ),
    ],
)
def test_what_edits_did_to_a_contract(before: FunctionContract, now: FunctionContract, said: str) -> None:
    kept, callers = now.callers_discharging
    assert change_text(before, now, callers, kept) == (f"contract changed: {said}" if said else "")


def test_callers_that_were_not_followed_are_counted() -> None:
    said = change_text(contract(), contract(needs("p != NULL")), 4, None)
    assert said == "contract changed: now expects `p != NULL` — 4 callers"


def test_an_unchanged_contract_names_how_many_callers_there_are() -> None:
    assert unchanged_text(14) == "contract unchanged for 14 callers"
    assert unchanged_text(1) == "contract unchanged for 1 caller"
    assert unchanged_text(0) == "contract unchanged"


@pytest.mark.parametrize(
    ("body", "is_seen"),
    [
        ("return NULL;", True),
        ("return p;", False),
        ("if (n) return 0; return p;", True),
        ("return n ? p : 0;", True),
        ("return malloc(n);", True),
        ("char *q = malloc(n); return q;", True),
        ("char *q = malloc(n), *r = q; n++; return r;", True),
        ("char *q = malloc(n); if (!q) return p; return q;", False),
        ("char *q = malloc(n); *q = 0; return q;", False),
        ("char *q = malloc(n); keep(&q); return q;", False),
        ("char *q = malloc(n); q = p; return q;", False),
        ("char *q = malloc(n); return p;", False),
        ("return strchr(p, n);", False),  # for some arguments only
        ("return other(n);", False),
        ("char *q = NULL; if (n) q = p; if (!n) q = p; return q;", False),
    ],
)
def test_where_null_is_seen_to_be_returned(body: str, is_seen: bool) -> None:
    text = (
        (
            "void *malloc(unsigned long); char *strchr(const char *, int); char *other(int); void keep(char **);\n"
            f"#define NULL ((void *)0)\nchar *f(char *p, int n) {{ {body} }}"
        )
        .replace("#define NULL ((void *)0)\n", "")
        .replace("NULL", "((void *)0)")
    )
    program = link([unit_of(text)]).program
    assert may_return_null(program, program.functions["f"]) is is_seen


def test_null_goes_on_through_calls_that_pass_no_constant() -> None:
    text = (
        "void *malloc(unsigned long); static char *a(int k) { if (k == 0) return 0; return malloc(k); } "
        "char *f(int k) { return a(k); } char *g(int k) { char *p = f(k); return p; } char *h(void) { return a(4); }"
    )
    program = link([unit_of(text)]).program
    assert [name for name in ("f", "g", "h") if may_return_null(program, program.functions[name])] == ["f", "g"]


def test_a_function_of_the_programs_own_is_no_library_function() -> None:
    program = link(
        [unit_of("static char c; char *getenv(const char *n) { return &c; } char *f(void) { return getenv(&c); }")]
    ).program
    assert not may_return_null(program, program.functions["f"])


@pytest.mark.parametrize(
    ("written", "shown", "names"),
    [
        (
            "extern int strcmp (const char *__s1, const char *__s2)\n  __attribute__ ((__pure__))",
            "int strcmp(const char *s1, const char *s2)",
            ["s1", "s2"],
        ),
        ("extern void *strcmp (void *__restrict __to, size_t)", "void *strcmp(void *to, size_t)", ["to", ""]),
        ("int strcmp(unsigned long, struct s *)", "int strcmp(unsigned long, struct s *)", ["", ""]),
        ("int strcmp(const char *__f, ...)", "int strcmp(const char *f, ...)", ["f", ""]),
        ("int strcmp(int (*f)(void), int n)", "int strcmp(int (*f)(void), int n)", []),
        ("int strcmp(void)", "int strcmp(void)", [""]),
        ("return strcmp(a, b)", "", []),
        ("strcmp(a, b)", "", []),
        ("x = strcmp(a, b)", "", []),
        ("typedef int strcmp(int)", "", []),
        ("int strcmp2(int)", "", []),
        ("int strcmp(int", "", []),
        ("int strcmp = 0", "", []),
    ],
)
def test_how_a_library_function_is_declared(written: str, shown: str, names: list[str]) -> None:
    assert external(written, "strcmp") == shown
    assert not shown or parameter_names(shown) == names


def test_arguments_have_the_names_of_parameters_where_these_are_known() -> None:
    found = library_contract("realloc", None, "void *realloc(void *ptr, size_t size)")
    assert found is not None
    assert texts(found)[:2] == [f"returns NULL or {NEW}", "frees `ptr` where it succeeds"]
    found = library_contract("fgets", None, "char *fgets(char *s, int n, FILE *stream)")
    assert found is not None
    assert texts(found)[:3] == [
        "requires `s != NULL`, `stream != NULL`",
        "returns NULL or `s`",
        "writes at most `errno`, what `s` points to",
    ]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("static const char *\nname_of( int  n , char *p )\n", "static const char *name_of(int n, char *p)"),
        ('int\n# 3 "a.h"\nf(void)', "int f(void)"),
        ("int f(void) /* { */", ""),
        ("int __attribute__((cold)) f(void)", ""),
        ("int f(struct ", ""),
        ("int f(" + "int a, " * 60 + "int b)", ""),
    ],
)
def test_a_declaration_in_one_line(written: str, shown: str) -> None:
    assert in_one_line(written) == shown


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("g.x = 1", "`g.x`"),
        ("g.in.x = 1", "`g`"),
        ("g.parts[n].x = 1", "`g`"),
        ("g.same[n] = 1", "`g`"),
        ("rows[n].x = 1", "`rows`"),
        ("at->in.x = 1", "`x` of `struct in`"),
        ("g.x = 1, g.in.x = 1", "`g.x`, `g`"),
    ],
)
def test_a_member_of_a_variable_is_named_where_it_is_its_own(statement: str, shown: str) -> None:
    """Another structure in the variable may have a member of the same name."""
    text = "struct in { int x; }; struct out { int x; struct in in; struct in parts[3]; int same[2]; };\n"
    text += f"struct out g, *at; struct in rows[2];\nvoid f(int n) {{ {statement}; }}\n"
    found = ProgramContracts(link([unit_of(text)]).program).of("f").contract
    assert [one.text for one in sentences(found) if "writes" in one.text] == [f"writes at most {shown}"]


@pytest.mark.parametrize(
    ("arguments", "result", "said"),
    [
        (
            "freed? n",
            "block?",
            ["returns NULL or a new block, which has to be freed", "frees argument 1", "writes at most `errno`"],
        ),
        ("code", "", ["may write anything that it can reach"]),
        ("beneath", "", ["may write anything that it can reach"]),
    ],
)
def test_contracts_of_a_project_are_shown_as_proofs_take_them(arguments: str, result: str, said: list[str]) -> None:
    """A function is said to free in each call, so no sentence says less; what it calls, or reaches, may be written."""
    type_ = Function(Void(), (Integer(64, True, "long"),) * len(arguments.split()), False)
    found = library_contract("own", External("own", type_, row=f"own | {arguments} | {result} | | own.yaml"))
    assert found is not None
    assert texts(found) == said


@pytest.mark.parametrize(
    ("use", "is_needed"), [("kept", True), ("freed", True), ("beneath", True), ("in?", False), ("n?", False)]
)
def test_a_pointer_to_a_function_of_a_project_is_needed_unless_it_may_be_null(use: str, *, is_needed: bool) -> None:
    """Proofs show that null is not passed for it."""
    type_ = Function(Void(), (Pointer(Void()),), False)
    found = library_contract("own", External("own", type_, row=f"own | {use} | | | own.yaml"))
    assert found is not None
    assert [one.formula for one in found.requires] == (["argument 1 != NULL"] if is_needed else [])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        # `f(0, 0)` returns 0 as well, but callers keep `p != NULL`
        ("if (n > 1 && *p == 3) n = 0; return 0;", ["expects `p != NULL`"]),
        ("return *p;", ["expects `p != NULL`"]),  # it says that it returns `*p`
        ("return *p ? 3 : 0;", ["expects `p != NULL`", "returns 0 if and only if `*p == 0`"]),
        ("return p ? 1 : 0;", ["expects nothing", "returns 0 if and only if `p == NULL`"]),
        (
            "return n && *p ? 1 : 0;",
            [
                "expects `p != NULL`",
                "if it returns another value than 0, `n != 0`",
                "if it returns another value than 0, `*p != 0`",
            ],
        ),
    ],
)
def test_what_callers_keep_anyway_is_not_told_by_the_result(body: str, said: list[str]) -> None:
    found = ProgramContracts(link([unit_of(f"int f(int n, const int *p) {{ {body} }}")]).program).of("f").contract
    told = [one.text for one in sentences(msgspec.structs.replace(found, blocks=()))]
    assert [text for text in told if text.startswith(("expects", "if it", "returns 0 if"))] == said


@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("a", "b->c", "*d")])
def test_a_sentence_about_several_parameters_is_one_about_each(names: tuple[str, ...]) -> None:
    said = "expects {} to be null, or neither freed nor closed"
    assert words.of_each(said.format(words.each_of(names))) == tuple(said.format(f"`{name}`") for name in names)
