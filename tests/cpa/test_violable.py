"""What nothing in a program could violate, by its form alone: where anything is not known, it could."""

from __future__ import annotations

import pytest

from analysis.cfa.graph import Cfa, Program
from analysis.cpa.obstacles import violable
from analysis.cpa.obstacles.violable import Violable
from analysis.cpa.predicates.violations import violations
from tests.support.runs import program_of

HEAP = {"memory-leak", "memory-cleanup", "double-free", "invalid-free", "use-after-free"}
LOCKS = {"lock-discipline", "lock-at-exit"}
DEEDS = HEAP | LOCKS | {"resource-leak", "use-after-close", "use-after-scope"}

PROGRAMS: dict[str, tuple[str, set[str]]] = {
    "only numbers": ("int main(void) { return 4; }", DEEDS),
    "printing": ('int printf(const char *, ...);\nint main(void) { return printf("x"); }', DEEDS),
    "an input": ("int __VERIFIER_nondet_int(void);\nint main(void) { return __VERIFIER_nondet_int(); }", DEEDS),
    "allocation": (
        "void *malloc(unsigned long);\nvoid free(void *);\nint main(void) { free(malloc(4)); return 0; }",
        LOCKS | {"resource-leak", "use-after-close", "use-after-scope"},
    ),
    "only an allocation": (
        "void *malloc(unsigned long);\nint main(void) { return malloc(4) == 0; }",
        LOCKS | {"double-free", "invalid-free", "use-after-free", "resource-leak", "use-after-close", "use-after-scope"},
    ),
    "a file": (
        'struct f;\nstruct f *fopen(const char *, const char *);\nint main(void) { return fopen("a", "r") == 0; }',
        LOCKS | {"double-free", "invalid-free", "use-after-free", "use-after-close", "use-after-scope"},
    ),
    "input that may allocate": (
        'int scanf(const char *, ...);\nstatic char *p;\nint main(void) { return scanf("%ms", &p); }',
        DEEDS - {"memory-leak", "memory-cleanup"},
    ),
    "a descriptor": ('int open(const char *, int);\nint main(void) { return open("a", 0); }', DEEDS - {"resource-leak"}),
    "a lock": ("int mtx_lock(int *);\nint m;\nint main(void) { return mtx_lock(&m); }", DEEDS - LOCKS),
    "a function that is not known": ("int other(void);\nint main(void) { return other(); }", set()),
    "a library's function of no list": ("int getline_(char **);\nint main(void) { char *p = 0; return getline_(&p); }", set()),
    "a function of the program with a library's name": (
        "int other(void) { return 1; }\nint main(void) { return other(); }",
        DEEDS,
    ),
    "a function through a pointer": (
        "void free(void *);\nvoid (*f)(void *) = free;\nint main(void) { f(0); return 0; }",
        set(),
    ),
    "an address that is passed on": (
        "void free(void *);\nint atexit(void (*)(void));\nstatic void end(void) { free(0); }\n"
        "int main(void) { return atexit(end); }",
        set(),
    ),
    "what nobody calls": (
        "void free(void *);\nvoid other(void *p) { free(p); }\nint main(void) { return 0; }",
        DEEDS - {"double-free", "invalid-free", "use-after-free"},
    ),
    "an assembler statement": ('int main(void) { int x = 1; __asm__("incl %0" : "+r"(x)); return x; }', set()),
    "the address of a variable": ("int main(void) { int x = 1, *p = &x; return *p; }", DEEDS - {"use-after-scope"}),
    "an array": ("int main(void) { int x[2] = {1, 2}; int *p = x; return *p; }", DEEDS - {"use-after-scope"}),
    "an array that is only indexed": ("int main(void) { int x[2] = {1, 2}; return x[1]; }", DEEDS),
    "a compound literal": ("int main(void) { int *p = (int[]){1, 2}; return *p; }", DEEDS - {"use-after-scope"}),
    "the address of a parameter": ("int main(int argc, char **argv) { int *p = &argc; return *p; }", DEEDS - {"use-after-scope"}),
    "the address of a member": (
        "struct s { int a; };\nint main(void) { struct s t = {1}; int *p = &t.a; return *p; }",
        DEEDS - {"use-after-scope"},
    ),
    "alloca": (
        "void *__builtin_alloca(unsigned long);\nint main(void) { char *p = __builtin_alloca(4); return p == 0; }",
        DEEDS - {"use-after-scope"},
    ),
    "a constructor": ("__attribute__((constructor)) static void first(void) {}\nint main(void) { return 0; }", set()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rule_has_no_place_where_nothing_does_what_it_needs(name: str) -> None:
    text, wanted = PROGRAMS[name]
    program = program_of(text)
    assert Violable().excluded(program, program.functions.keys()).rules == wanted


CONDITIONS = {
    "division-by-zero": "int f(int a, int b) { return a / b; }",
    "shift-range": "int f(int a, int b) { return a << b; }",
    "signed-overflow": "int f(int a, int b) { return a + b; }",
    "null-dereference": "int f(int *a, int b) { return *a; }",
    "array-bounds": "int a[3];\nint f(int b) { return a[b]; }",
    "assertion": "void __VERIFIER_assert(int);\nint f(int b) { __VERIFIER_assert(b); return 1; }",
    "uninitialized-read": "int f(int b) { int a; if (b) a = 1; return a; }",
}


@pytest.mark.parametrize("rule", CONDITIONS)
def test_a_function_has_no_place_where_no_edge_could_violate(rule: str) -> None:
    program = program_of(f"{CONDITIONS[rule]}\nint g(void) {{ return 1; }}\nint main(void) {{ return g(); }}")
    excluded = Violable().excluded(program, program.functions.keys())
    assert (excluded("f", rule), excluded("g", rule)) == (False, True)
    silent = Violable().excluded(program, {"g", "main"})  # as if `f` were a function of a system header
    assert not silent("g", rule)


@pytest.mark.parametrize(
    ("function", "is_excluded"),
    [
        ("int *f(void) { int x = 1; return &x; }", False),
        ("int *f(void) { int x = 1, *p = &x; return p; }", False),
        ("struct s { int *p; }; struct s f(void) { int x = 1; struct s t = {&x}; return t; }", False),
        ("void *alloca(unsigned long); char *f(void) { return alloca(3); }", False),
        ("void *malloc(unsigned long); char *f(void) { return malloc(3); }", True),
        ("int *f(int *p) { return p; }", True),
        ("int f(void) { int x[2] = {1, 2}; int *p = x; return *p; }", True),
        ("void f(void) { int x[2] = {1, 2}; int *p = x; *p = 2; }", True),
    ],
)
def test_the_address_of_a_variable_is_returned_only_where_it_is_taken(function: str, is_excluded: bool) -> None:
    program = program_of(f"{function}\nint main(void) {{ return 0; }}")
    assert Violable().excluded(program, program.functions.keys())("f", "returned-local") is is_excluded


@pytest.mark.parametrize(("variable", "places"), [("long long", 0), ("char *", 1), ("int", 1)])
def test_a_variable_has_to_be_as_large_on_machines_of_32_bits(variable: str, places: int) -> None:
    """A pointer has 64 bits on one machine and 32 on the other, and the program does not say which it is for."""
    time = f"long long time(long long *);\nint main(void) {{ {variable} v = 0; time((long long *)&v); return 0; }}"
    assert len(violations(program_of(time), "array-bounds")) == places


def test_what_is_not_supported_may_hide_anything() -> None:
    program = program_of('int f(void) { int x = 1; __asm__("" : "+r"(x)); return 1; }\nint g(void) { return 1; }')
    excluded = Violable().excluded(program, program.functions.keys())
    assert not any(excluded("f", rule) for rule in CONDITIONS)
    assert all(excluded("g", rule) for rule in CONDITIONS)


def test_a_revision_is_looked_at_where_what_is_called_differs() -> None:
    violable = Violable()
    without = program_of("int f(void) { return 1; }\nint main(void) { int x = f(); return 0; }")
    assert violable.excluded(without, without.functions.keys())("main", "uninitialized-read")
    other = program_of("int f(void) { }\nint main(void) { int x = f(); return 0; }")
    other.functions["main"] = without.functions["main"]
    assert not violable.excluded(other, other.functions.keys())("main", "uninitialized-read")


def test_what_was_looked_at_before_it_was_ended_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key ends it in the midst of a large program, and a check does not look for itself what is looked at already."""
    program = program_of("static int one(void) { return 1; }\nint two(void) { return one(); }\nint main(void) { return two(); }")
    form, looked = violable._form, list[str]()

    def interrupted(program: Program, cfa: Cfa, callees: dict[str, Cfa | None]) -> object:
        if len(looked) == 1:
            looked.append("a key")
            raise KeyboardInterrupt
        looked.append(cfa.name)
        return form(program, cfa, callees)

    monkeypatch.setattr(violable, "_form", interrupted)
    known = Violable()
    with pytest.raises(KeyboardInterrupt):
        known.look(program)
    known.look(program)
    assert sorted(looked) == sorted(["a key", *program.functions])
    found = known.excluded(program, program.functions)
    assert len(looked) == 1 + len(program.functions)
    assert all(found("main", rule) for rule in HEAP)
