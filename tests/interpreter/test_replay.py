"""A counterexample replays only if the program takes its path on its inputs and the violation happens at its end."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from analysis.cfa.graph import Cfa, Program
from analysis.interpreter import Diverged, Fresh, Observation, Replayed, Script, Start, Step, execute, replay
from analysis.interpreter.inputs import InputValue
from analysis.interpreter.outcome import Kind, Losses
from benchmarks.random_c import RandomProgram
from tests.support.runs import main_of, program_of, run_of
from tests.support.violations import HELPERS, VIOLATIONS

TEXT = """
struct node { int value; struct node *next; };
struct node last;
int bump(struct node *p, int by) { p->value = by + 1; return p->value; }
int main(void) {
    struct node first, *p = &first;
    p->next = &last;
    int n = __VERIFIER_nondet_int();
    int sum = bump(p, n);
    if (sum > 3)
        p->next = 0;
    return p->next->value;
}
"""


def recorded(text: str, values: tuple[InputValue, ...] = (), entry: str = "main") -> tuple[Program, list[Step]]:
    """The program, and the path that it takes on the inputs."""
    program = program_of(text)
    return program, list(execute(program, Start(entry), Script(values), record=True).path)


def test_the_values_of_each_step() -> None:
    program, path = recorded(TEXT, (5,))
    result = replay(program, Start("main"), path, Script((5,)), "null-dereference")
    assert isinstance(result, Replayed), result
    assert result.observation == Observation("null-dereference", "read through a null pointer", len(path) - 1)
    assert [(step.function, step.depth, step.values) for step in result.steps] == [
        ("main", 0, {}),
        ("main", 0, {"p": "&first"}),
        ("main", 0, {"p": "&first", "p->next": "&last"}),
        ("main", 0, {"n": "5"}),
        ("main", 0, {"p": "&first", "n": "5"}),
        ("bump", 1, {"by": "5", "p": "&first", "p->value": "6"}),
        ("bump", 1, {"p": "&first", "p->value": "6", "sum": "6"}),
        ("main", 0, {"sum": "6"}),
        ("main", 0, {"p": "&first", "p->next": "NULL"}),
        ("main", 0, {"p": "&first", "p->next": "NULL"}),
    ]


MOVED = """
struct node { int value; struct node *next; };
struct node last = { 2, 0 };
int main(void) {
    struct node first = { 1, &last }, *n = &first;
    int next[3] = { 2, 0, 1 }, i = 0;
    i = next[i];
    n = n->next;
    n->value = n->value + 1;
    n = n->next;
    return n->value;
}
"""


def test_a_name_that_means_another_object_after_its_step_is_not_shown() -> None:
    program, path = recorded(MOVED)
    result = replay(program, Start("main"), path, Script(()), "null-dereference")
    assert isinstance(result, Replayed), result
    assert [step.values for step in result.steps[-5:]] == [
        {"i": "2"},
        {"n": "&last"},
        {"n": "&last", "n->value": "3"},
        {"n": "NULL"},
        {"n": "NULL"},
    ]


def test_values_are_spelled_for_people() -> None:
    text = main_of(
        'int a[3] = {1, 2, 3}, *p = &a[1]; char *h = malloc(12), *q = h + 4, c = "x"[0]; char *s = "text"; double d = 0.5;'
        " int (*f)(int *) = external; free(h); int same = h == q; int *none = 0; return *none;"
    )
    program, path = recorded(text)
    result = replay(program, Start("main"), path, Script(), "null-dereference")
    assert isinstance(result, Replayed)
    values = {name: value for step in result.steps for name, value in step.values.items()}
    assert values["p"] == "&a+4"
    assert values["q"] == "heap block 1 (12 bytes)+4, freed"
    assert values["h"] == "heap block 1 (12 bytes), freed"
    assert (values["s"], values["c"], values["d"], values["f"]) == ('"text"', "120 ('x')", "0.5", "external")


FILLED = """
#include <stdio.h>
#include <string.h>
int main(void) {
    char from[8] = "ab", to[8];
    int n = 3, *none = 0;
    memcpy(&n, "\\5\\0\\0", 4);
    strcpy(to, from);
    if (scanf("%d", &n) == 1 && n > 6)
        return strlen(to) + *none;
    return 0;
}
"""


def test_what_the_library_writes_is_shown_with_the_step() -> None:
    values = (1, 7)
    program, path = recorded(FILLED, values)
    result = replay(program, Start("main"), path, Script(values), "null-dereference")
    assert isinstance(result, Replayed), result
    shown = [step.values for step in result.steps]
    assert shown[4:6] == [{"n": "5"}, {"from": '"ab"', "to": '"ab"'}]
    assert shown[6] == {}  # what was read is not decided before the program looks at it
    assert shown[8] == {"n": "7"}


@pytest.mark.parametrize(("kind", "statements"), VIOLATIONS)
def test_every_kind_replays(kind: Kind, statements: str) -> None:
    program, path = recorded(main_of(statements, HELPERS))
    result = replay(program, Start("main"), path, Script(), kind)
    assert isinstance(result, Replayed), result
    assert result.observation is not None
    assert (result.observation.kind, result.observation.step) == (kind, len(path) - 1)
    other: Kind = "assertion" if kind != "assertion" else "double-free"
    assert isinstance(replay(program, Start("main"), path, Script(), other), Diverged)


def refused(
    program: Program, path: list[Step], values: tuple[InputValue, ...], kind: Kind | None = "null-dereference"
) -> Diverged:
    result = replay(program, Start("main"), path, Script(values), kind)
    assert isinstance(result, Diverged), result
    return result


def test_wrong_values_are_refused() -> None:
    program, path = recorded(TEXT, (5,))
    found = refused(program, path, (2,))
    assert (found.step, found.why) == (7, "the program goes on with: sum <= 3")
    assert refused(program, path, ()).why == "no input for result __VERIFIER_nondet_int"


def test_missing_and_added_steps_are_refused() -> None:
    program, path = recorded(TEXT, (5,))
    for at in range(len(path)):
        assert refused(program, path[:at] + path[at + 1 :], (5,)).step <= at
        assert refused(program, [*path[:at], path[at], *path[at:]], (5,)).step <= at + 1
    assert refused(program, [], (5,)).why == "the path has no step"
    assert refused(program, [*path, path[-1]], (5,)).why == "null-dereference: read through a null pointer"


def test_wrong_edges_are_refused() -> None:
    program, path = recorded(TEXT, (5,))
    for at, step in enumerate(path):
        for edge in program.functions[step.function].edges:
            if edge.id != step.edge:
                assert refused(program, [*path[:at], Step(step.function, edge.id), *path[at + 1 :]], (5,)).step == at
    assert refused(program, [Step("bump", path[0].edge), *path[1:]], (5,)).step == 0
    assert refused(program, [Step("main", 999), *path[1:]], (5,)).step == 0


def test_the_edge_that_ends_the_run_is_compared() -> None:
    """The claimed last step is another edge than the one taken, with the same source and effect."""
    program, path = recorded(main_of("void *p = malloc(1); return 0;"))
    main = program.functions["main"]
    returning = main.by_id[path[-1].edge]
    beside = msgspec.structs.replace(returning, id=main.next_edge)
    twice = Cfa(
        name="main", path=main.path, type_=main.type, parameters=(), entry=main.entry, exit_=main.exit,
        edges=(*main.edges, beside), digest="",
    )  # fmt: skip
    changed = Program({**program.functions, "main": twice}, program.globals, program.externals, program.records, ())
    wrong = [*path[:-1], Step("main", beside.id)]
    for kind in (None, "memory-leak", "memory-cleanup"):
        assert isinstance(replay(program, Start("main"), path, Script(), kind), Replayed)
        assert refused(changed, wrong, (), kind).why == "the program goes on with: return 0"


def test_a_path_to_no_violation_is_refused() -> None:
    program, path = recorded(TEXT, (1,))
    assert refused(program, path, (1,)).why == "no null-dereference happens"
    assert refused(program, path[:3], (1,)).why == "no null-dereference happens"
    result = replay(program, Start("main"), path[:3], Script((1,)), None)
    assert isinstance(result, Replayed)
    assert result.observation is None


def test_a_violation_before_the_end_is_refused() -> None:
    text = main_of("int x = 2147483647; int *p = 0; x++; return *p;")
    program, path = recorded(text)
    longer = [*path, Step("main", path[-1].edge + 1)]
    found = refused(program, longer, ())
    assert (found.step, found.why) == (2, "signed-overflow: 2147483647 + 1 is not in the range of int")


def test_either_edge_of_a_branch_whose_condition_violates_is_right() -> None:
    program, path = recorded(main_of("int *p = 0; if (*p) return 1; return 0;"))
    edges = [edge.id for edge in program.functions["main"].outgoing[program.functions["main"].by_id[path[-1].edge].source]]
    assert len(edges) == 2
    for edge in edges:
        assert isinstance(
            replay(program, Start("main"), [*path[:-1], Step("main", edge)], Script(), "null-dereference"), Replayed
        )


LEAKS = [  # the program, and the numbers of the steps of its run that lose a block
    ("int main(void) { int *p = malloc(4); int *q = p; p = 0; q = 0; return 0; }", {3}),
    ("int main(void) { char *p = malloc(4); p++; p = malloc(2); return 0; }", {2, 3}),
    ("int *make(void) { int *p = malloc(4); return p; } int main(void) { make(); return 0; }", {2}),
    ("void keep(void) { int *p = malloc(4); *p = 1; } int main(void) { keep(); return 0; }", {3}),
    ("int *g; int main(void) { g = malloc(4); g = 0; return 0; }", {1}),
    ("struct s { struct s *n; }; int main(void) { struct s *p = malloc(8); p->n = malloc(8); free(p); return 0; }", {2}),
    ("int main(void) { use(malloc(4)); return 0; }", {1}),
    ("int main(void) { int *p = malloc(4); p = 0; int *q = malloc(8); int *r = q; q = 0; free(r); return 0; }", {1}),
]


@pytest.mark.parametrize(("text", "losing"), LEAKS)
def test_leaks_are_observed_when_the_last_pointer_goes(text: str, losing: set[int]) -> None:
    program, path = recorded(text)
    for last in range(len(path)):
        result = replay(program, Start("main"), path[: last + 1], Script(), "memory-leak")
        assert isinstance(result, Replayed) == (last in losing), (last, result)
        behind = replay(program, Start("main"), path[: last + 1], Script(), "memory-leak", losses=Losses(earlier=True))
        assert isinstance(behind, Replayed) == (last >= min(losing)), (last, behind)


def test_a_path_that_goes_on_after_the_program_has_ended_is_refused() -> None:
    program, path = recorded(main_of("int x = 1; return x;"))
    for kind in (None, "memory-leak", "memory-cleanup"):
        assert isinstance(replay(program, Start("main"), (*path, path[-1]), Script(), kind), Diverged)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("int *g; int main(void) { g = malloc(4); *g = 1; return 0; }", "memory-cleanup"),
        ("int m; int pthread_mutex_lock(int *); int main(void) { pthread_mutex_lock(&m); m; return 0; }", "lock-at-exit"),
    ],
)
def test_what_is_left_behind_counts_only_where_the_program_ends(text: str, kind: Kind) -> None:
    program, path = recorded(text)
    results = [replay(program, Start("main"), path[: last + 1], Script(), kind) for last in range(len(path))]
    assert [isinstance(one, Replayed) for one in results] == [False] * (len(path) - 1) + [True]


def test_what_can_be_reached_is_no_leak() -> None:
    for text in (
        "int *g; int main(void) { g = malloc(4); return 0; }",
        "int main(void) { int *p = malloc(4); free(p); return 0; }",
        "struct s { char c; int *p; } g; int main(void) { g.p = malloc(4); g.p++; return 0; }",
        "int *f(void) { return malloc(4); } int main(void) { int *p = f(); free(p); return 0; }",
    ):
        program, path = recorded(text)
        for length in range(1, len(path) + 1):
            assert isinstance(replay(program, Start("main"), path[:length], Script(), "memory-leak"), Diverged), text


def test_a_block_that_the_caller_can_reach_is_no_leak() -> None:
    text = "struct s { int *p; }; int f(struct s *s) { s->p = malloc(4); return 0; }"
    program, path = recorded(text, (Fresh(),), entry="f")
    assert isinstance(replay(program, Start("f"), path, Script((Fresh(),)), "memory-leak"), Diverged)


def test_a_block_that_is_returned_is_no_leak() -> None:
    for text in (
        "int *f(void) { int *p = malloc(4); return p; }",
        "struct s { int n; int *p; }; struct s f(void) { struct s s = {1, malloc(4)}; return s; }",
    ):
        program, path = recorded(text, entry="f")
        assert isinstance(replay(program, Start("f"), path, Script(), None), Replayed)
        assert isinstance(replay(program, Start("f"), path, Script(), "memory-leak"), Diverged)


def test_streams_leak() -> None:
    text = main_of('FILE *f = fopen("a", "r"); if (!f) return 1; f = 0; return 0;')
    program, path = recorded(text, (1,))
    assert isinstance(replay(program, Start("main"), path[:-1], Script((1,)), "resource-leak"), Replayed)
    closed = main_of('FILE *f = fopen("a", "r"); if (!f) return 1; fclose(f); f = 0; return 0;')
    program, path = recorded(closed, (1,))
    assert isinstance(replay(program, Start("main"), path, Script((1,)), "resource-leak"), Diverged)


@pytest.mark.parametrize("use", ["fclose(f)", "fgetc(f)", 'fputs("x", f)', 'fprintf(f, "x")', "fgets(line, 2, f)", "rewind(f)"])
def test_streams_are_not_used_after_they_are_closed(use: str) -> None:
    begin = 'char *fgets(char *, int, FILE *); char line[2]; FILE *f = fopen("a", "r"); if (!f) return 1;'
    program, path = recorded(main_of(f"{begin} fclose(f); {use}; return 0;"), (1,))
    assert isinstance(replay(program, Start("main"), path, Script((1,)), "use-after-close"), Replayed)
    run = execute(program_of(main_of(f"{begin} {use}; return 0;")), Start("main"), Script((1,)))
    assert not isinstance(run.end, Observation)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_replay_and_corrupted_paths_do_not(seed: int) -> None:
    written = RandomProgram(seed, "p_", risk=0.03)
    program = program_of("\n" + written.text.replace("out(", "(void)("))
    start = Start(written.entry)
    run = execute(program, start, Script(), record=True)
    path = list(run.path)
    kind = run.end.kind if isinstance(run.end, Observation) else None
    assert isinstance(replay(program, start, path, Script(), kind), Replayed)
    random = Random(seed)
    for _ in range(5):
        at = random.randrange(len(path))
        cfa = program.functions[path[at].function]
        others = [edge.id for edge in cfa.edges if edge.id != path[at].edge]
        if at == len(path) - 1 or not others:
            continue
        wrong = [*path[:at], Step(cfa.name, random.choice(others)), *path[at + 1 :]]
        assert isinstance(replay(program, start, wrong, Script(), kind), Diverged)
        shorter = path[:at] + path[at + 1 :]
        assert shorter == path or isinstance(replay(program, start, shorter, Script(), kind), Diverged)


def test_the_runs_of_replay_and_execute_are_the_same() -> None:
    run = run_of(TEXT, (5,))
    program, path = recorded(TEXT, (5,))
    result = replay(program, Start("main"), path, Script((5,)), "null-dereference")
    assert isinstance(result, Replayed)
    assert (result.observation, result.asked, result.assumptions) == (run.end, run.asked, run.assumptions)


def test_what_runs_behind_main_has_no_caller() -> None:
    text = (
        "int atexit(void (*)(void)); void free(void *); void *malloc(unsigned long); void *p; void last(void) { free(p); }"
        "int main(void) { p = malloc(3); atexit(last); free(p); return 0; }"
    )
    program, path = recorded(text)
    result = replay(program, Start("main"), path, Script(()), "double-free")
    assert isinstance(result, Replayed), result
    assert result.observation is not None
    assert [step.function for step in result.steps][-2:] == ["main", "last"]
