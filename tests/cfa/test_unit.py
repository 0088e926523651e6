"""Units across edits: what is reused, what is lowered again, what is broken, what is known of declarations."""

from __future__ import annotations

from analysis.cfa.building.unit import Unit
from analysis.model import ir
from analysis.model.c_types import CHAR, ILP32, INT, VOID, Function, Pointer
from analysis.model.report import Count
from tests.support.lowered import unit_of

TEXT = "int g(int);\nint one(int a) { return g(a); }\nint two(int b) { if (b) return 1; return 2; }\n"


def names(unit: Unit) -> list[str]:
    return [f.cfa.name for f in unit.functions]


def test_an_edit_in_one_body_lowers_that_function_only() -> None:
    before = unit_of(TEXT)
    after = unit_of(TEXT.replace("return 2", "return 3"), previous=before)
    assert after.work == Count(reused=1, recomputed=1)
    assert after.functions[0].cfa is before.functions[0].cfa
    assert after.functions[1].cfa.digest != before.functions[1].cfa.digest


def test_text_above_moves_offsets_and_nothing_else() -> None:
    before = unit_of(TEXT)
    after = unit_of("/* long comment */\n\n" + TEXT, previous=before)
    assert after.work == Count(reused=2, recomputed=0)
    assert after.level is before.level
    for old, new in zip(before.functions, after.functions, strict=True):
        assert new.cfa is old.cfa
        assert new.source.sites == old.source.sites
        assert new.source.start == old.source.start + 20


def test_layout_in_a_body_keeps_the_cfa_and_moves_sites() -> None:
    before = unit_of(TEXT)
    after = unit_of(TEXT.replace("if (b)", "if  /* b? */  (b)"), previous=before)
    assert after.functions[1].cfa is before.functions[1].cfa
    assert after.functions[1].source.sites != before.functions[1].source.sites


def test_a_new_declaration_that_nobody_uses_keeps_every_cfa() -> None:
    before = unit_of(TEXT)
    after = unit_of("int unrelated;\n" + TEXT, previous=before)
    assert after.work == Count(reused=2, recomputed=0)
    assert [v.var.name for v in after.variables] == ["unrelated"]


def test_a_changed_declaration_lowers_its_users_again() -> None:
    before = unit_of(TEXT)
    after = unit_of(TEXT.replace("int g(int)", "char *g(int)"), previous=before)
    assert after.work == Count(reused=1, recomputed=1)
    assert after.functions[1].cfa is before.functions[1].cfa


def test_changed_members_lower_their_users_again() -> None:
    text = "struct s { int v; }; int one(struct s *p) { return p->v; } int two(void) { return 2; }"
    before = unit_of(text)
    after = unit_of(text.replace("int v", "int w; char v"), previous=before)
    assert after.work == Count(reused=1, recomputed=1)


def test_a_function_that_does_not_parse_is_broken_and_the_others_go_on() -> None:
    before = unit_of(TEXT)
    broken = TEXT.replace("return 2;", "return (2;")
    after = unit_of(broken, previous=before)
    assert names(after) == ["one"]
    assert [b.name for b in after.broken] == ["two"]
    assert broken.encode()[after.broken[0].start :].startswith(b"int two")
    assert after.last_good["two"].cfa is before.functions[1].cfa


def test_a_repaired_function_gets_its_cfa_back() -> None:
    before = unit_of(TEXT)
    broken = unit_of(TEXT.replace("return 2;", "return (2;"), previous=before)
    repaired = unit_of(TEXT, previous=broken)
    assert repaired.functions[1].cfa is before.functions[1].cfa
    assert not repaired.broken
    assert not repaired.last_good


def test_a_missing_brace_does_not_hide_the_functions_after_it() -> None:
    unit = unit_of("int one(int a) { if (a) { return 1; return 2; }\nint two(int b) { return b; }\n")
    assert "two" in names(unit)
    assert [b.name for b in unit.broken] == ["one"]


def test_incremental_equals_from_scratch() -> None:
    texts = [TEXT, TEXT.replace("g(a)", "g(a) + g(1)"), "static " + TEXT[1:], TEXT + "int three(void) { return one(1); }", TEXT]
    unit = None
    for text in texts:
        unit = unit_of(text, previous=unit)
        scratch = unit_of(text)
        assert [(f.cfa.name, f.cfa.digest) for f in unit.functions] == [(f.cfa.name, f.cfa.digest) for f in scratch.functions]
        assert unit.externals == scratch.externals
        assert unit.variables == scratch.variables


def test_attributes_of_declared_functions() -> None:
    unit = unit_of(
        "__attribute__((noreturn)) void die(int);\n"
        "char *copy(char *to, const char *from, int n) __attribute__((nonnull(1, 2)));\n"
        "void all(int a, char *b, char *c) __attribute__((__nonnull__));\n"
        "void plain(char *);\n"
        "_Noreturn void stop(void);\n"
        "int f(void) { die(1); return 0; }\n"
    )
    known = {e.name: e for e in unit.externals}
    assert known["die"].noreturn
    assert known["stop"].noreturn
    assert not known["copy"].noreturn
    assert known["copy"].nonnull == (0, 1)
    assert known["all"].nonnull == (1, 2)
    assert known["plain"].nonnull == ()
    assert [type(e.effect) for e in unit.functions[0].cfa.edges] == [ir.Call]


def test_noreturn_of_an_earlier_declaration_lasts() -> None:
    unit = unit_of("void die(int) __attribute__((noreturn)); void die(int); int f(void) { die(1); return 0; }")
    assert len(unit.functions[0].cfa.edges) == 1


def test_static_names_and_static_locals() -> None:
    unit = unit_of("static int v; static int h(void) { static int n = 4; return n + v; } int f(void) { return h(); }", "d/x.c")
    assert names(unit) == ["d/x.c::h", "f"]
    assert [v.var.name for v in unit.variables] == ["d/x.c::v"]
    assert [(s.var.name, s.initial) for s in unit.functions[0].statics] == [("d/x.c::h::n", ir.IntConst(4, INT))]
    assert ir.direct_callee(unit.functions[1].cfa.calls[0].effect) == "d/x.c::h"  # type: ignore[arg-type]


def test_implicit_functions_are_old_style_and_return_int() -> None:
    unit = unit_of("int f(char *s) { return undeclared(s); }")
    assert [(e.name, e.type) for e in unit.externals if e.name != "f"] == [("undeclared", Function(INT, (), prototyped=False))]


def test_address_taken_in_bodies_and_initialisers() -> None:
    unit = unit_of(
        "int a(void); int b(void); int c(void); int d(void); void use(int (*)(void));"
        "int (*table[])(void) = { a, &b }; struct { int n; int (*p)(void); } s = { 1, c };"
        "int f(void) { use(d); return sizeof(&f) + a(); }"
    )
    assert unit.address_taken == {"a", "b", "c", "d"}


def test_old_style_definition() -> None:
    unit = unit_of("char *f(a, n, p) char *a; int (*p)(); { return a + n; }")
    (function,) = unit.functions
    assert [(p.name, p.type) for p in function.cfa.parameters] == [
        ("a", Pointer(CHAR)),
        ("n", INT),
        ("p", Pointer(Function(INT, (), prototyped=False))),
    ]
    assert function.cfa.type == Function(Pointer(CHAR), (), prototyped=False)


def test_sites_are_tight_and_relative_to_the_function() -> None:
    text = "int x;\nint f(int *p, int a) { if (a && *p) { a = *p + 1; } return a; }"
    unit = unit_of(text)
    function = unit.functions[0]
    pieces = [text[function.source.start + s.start : function.source.start + s.end] for s in function.source.sites.values()]
    assert pieces == ["a", "a", "*p", "*p", "a = *p + 1", "return a;"]
    name, end = function.source.name_site, function.source.end_site
    assert text[function.source.start + name.start : function.source.start + name.end] == "f"
    assert text[function.source.start + end.start :] == "}"


def test_deep_nesting_is_unsupported_and_not_a_crash() -> None:
    deep = "(" * 10_000 + "a" + ")" * 10_000
    unit = unit_of(f"int f(int a) {{ return {deep}; }} int g(int a) {{ return a{' + a' * 3000}; }} int h(void) {{ return 1; }}")
    reasons = [[e.effect.reason for e in f.cfa.edges if isinstance(e.effect, ir.Unsupported)] for f in unit.functions]
    assert reasons == [["nested too deeply"], ["nested too deeply"], []]


def test_long_else_if_chains_are_not_deep() -> None:
    chain = " else ".join(f"if (a == {i}) a = {i + 1};" for i in range(1200))
    (function,) = unit_of(f"int f(int a) {{ {chain} return a; }}").functions
    assert not any(isinstance(e.effect, ir.Unsupported) for e in function.cfa.edges)


def test_void_parameter_list() -> None:
    unit = unit_of("void f(void) { } void g() { }")
    assert [f.cfa.type for f in unit.functions] == [Function(VOID, ()), Function(VOID, (), prototyped=False)]


def test_an_error_in_an_old_style_declaration_breaks_the_function() -> None:
    unit = unit_of("int f(a) int (a; { return a; } int g(void) { return 1; }")
    assert "g" in names(unit)
    assert "f" not in names(unit)
    assert unit.broken


def test_library_functions_that_never_return_need_no_attribute() -> None:
    unit = unit_of(
        "extern void abort(void); int f(int a) { if (!a) abort(); return a; } int g(void) { exit(1); }"
        "void _exit(int); void _exit(int n) { } void _exit(int); int h(void) { _exit(1); return 2; }"
    )
    last = {f.cfa.name: f.cfa.edges[-1].effect for f in unit.functions}
    assert isinstance(last["g"], ir.Call)
    assert isinstance(last["h"], ir.Return)
    assert [type(e.effect).__name__ for e in unit.functions[0].cfa.edges] == ["Assume", "Assume", "Call", "Return"]


def test_another_data_model_reuses_nothing() -> None:
    text = "int f(void) { return sizeof(long); }"
    after = unit_of(text, previous=unit_of(text), model=ILP32)
    assert after.work == Count(reused=0, recomputed=1)
    assert after.functions[0].cfa.edges[0].effect == ir.Return(ir.IntConst(4, INT))
