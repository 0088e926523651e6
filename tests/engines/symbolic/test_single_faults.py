"""Runs in which one thing fails find what random inputs do not: something after many things that went well."""

from __future__ import annotations

import msgspec
import pytest

from analysis.engines.symbolic import Confirmed, Effort, Target, Task, decide
from analysis.engines.symbolic.compared_texts import texts_near
from analysis.engines.symbolic.single_faults import Faulty, Text, compared_on, faulty_inputs, followed, others, ranked
from analysis.interpreter.inputs import Fresh, InputValue, Question, QuestionKind
from analysis.interpreter.outcome import Step
from analysis.model import ir
from analysis.model.c_types import CHAR, INT, Pointer, Type
from tests.support.runs import program_of, run_of

LOG = (
    "int vfprintf(FILE *, const char *, __builtin_va_list);"
    "static void log_(const char *f, ...) { __builtin_va_list l; __builtin_va_start(l, f); vfprintf(stderr, f, l); }"
    'static void *get(size_t n) { void *p = malloc(n); if (!p) { log_("%d", (int)n); exit(1); } return p; }'
)
MANY = LOG + (
    "int main(int argc, char **argv) { char *last, *known[20]; int n = __VERIFIER_nondet_int();"
    ' for (int i = 0; i < 20; i++) { char *one = get(i + 1); known[i] = one; log_("%d %s", i, argv[0]); }'
    " last = malloc(7); CHECK *last = 1; return n; }"
)
WORDS = (
    "int main(int argc, char **argv) { char *p = 0; int n = __VERIFIER_nondet_int();"
    " if (argc > 1 CHECK) *p = argv[1][0]; return n; }"
)


def store(text: str, runs: int = 40) -> Task:
    """The question about the store through a pointer in `main`."""
    program = program_of(text)
    found = next(e for e in program.functions["main"].edges if isinstance(ir.target_of(e.effect), ir.Deref))
    return Task(program, Target("main", found.id, "null-dereference"), ("main",), effort=Effort(seconds=6, runs=runs))


@pytest.mark.parametrize("text", [MANY.replace("CHECK", ""), WORDS.replace("CHECK", "")])
def test_one_fault_is_enough(text: str) -> None:
    found = decide(store(text))
    assert isinstance(found, Confirmed)
    assert sum(value == 0 for question, value in found.inputs if question.kind == "allocation") <= 1
    assert found.spent.states == 0


@pytest.mark.parametrize("text", [MANY.replace("CHECK", "if (!last) return 1;"), WORDS.replace("CHECK", "&& argc < 2")])
def test_the_mended_program_is_not_confirmed(text: str) -> None:
    assert not isinstance(decide(store(text, runs=30)), Confirmed)


def asked(kind: QuestionKind, type_: Type, name: str = "", offset: int = 0) -> Question:
    return Question(kind, type_, name, offset, "main", 0, 0, 0)


def test_the_words_of_main_end_with_a_null_pointer() -> None:
    words = Pointer(Pointer(CHAR))
    inputs = Faulty(((0, 2),), 8)
    assert [inputs.answer(asked("parameter", INT, "argc")), inputs.answer(asked("parameter", words, "argv"))] == [2, Fresh(64)]
    behind = [inputs.answer(asked("memory", Pointer(CHAR), "fresh 0", offset)) for offset in (0, 8, 16)]
    assert behind == [Fresh(64), Fresh(64), 0]
    assert inputs.answer(asked("memory", CHAR, "fresh 1")) == 0
    assert inputs.settled == {2, 3, 4}  # where the words are: no run is believed in which they are elsewhere


def test_what_is_read_again_and_again_ends() -> None:
    inputs = Faulty((), 8)
    assert [inputs.answer(asked("result", INT, "fgetc")) for _ in range(6)] == [0, 0, 0, 0, -1, -1]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        (asked("allocation", INT, "malloc"), (0,)),
        (asked("result", Pointer(CHAR), "getenv"), (0,)),
        (asked("result", INT, "ftell"), (1, -1)),
        (asked("result", INT, "open"), (-1,)),
        (asked("parameter", INT, "argc"), (3, 2)),
        (asked("expression", INT), ()),
        (asked("written", INT, "f"), ()),
    ],
)
def test_what_can_differ(question: Question, values: tuple[InputValue, ...]) -> None:
    assert others(question) == values


def test_numbers_that_the_claimed_path_compares_with_are_tried_as_results_and_as_what_was_read() -> None:
    assert others(asked("result", INT, "getc"), (47, -1, 42)) == (1, -1, 47, 42)
    assert others(asked("result", INT, "getc"), (47, -2, 256, 42)) == (1, -1, 47, 42)  # it returns no others
    assert others(asked("result", INT, "fread"), (47,)) == (1, 47)
    assert others(asked("memory", CHAR, "line"), (47, -1, 42)) == (1, 47, 42)
    assert others(asked("parameter", INT, "argc"), (47,)) == (3, 2)


def test_the_numbers_of_a_path_are_those_of_its_branches_the_last_first() -> None:
    program = program_of("int main(int n, char **words) { if (n > 3) n = 9; if (n == 47) n = 0; return n; }")
    path = [Step("main", edge.id) for edge in program.functions["main"].edges]
    assert compared_on(program, path) == (47, 3)
    gone = Step(path[0].function, 1_000), Step("gone", 0)  # an edit has taken them out: a path is only a hint
    assert compared_on(program, (*gone, *path)) == (47, 3)


def test_the_questions_next_to_where_a_run_leaves_the_path_come_first() -> None:
    """The base run, which takes two of three claimed steps; then its four allocations."""
    chosen: list[list[InputValue | None]] = []
    steps = [Step("main", edge) for edge in range(4)]
    for make, tell in faulty_inputs([steps[0], steps[2], Step("main", 9)], 8, 5):
        inputs = make()
        chosen.append([inputs.answer(Question("allocation", INT, "malloc", 0, "main", edge, edge, 0)) for edge in range(4)])
        tell(steps)
    assert [answers.index(0) for answers in chosen[1:]] == [2, 1, 3, 0]
    assert chosen[0] == [None] * 4


def test_a_run_that_comes_further_is_varied_next() -> None:
    """A second allocation is asked for only where the first one failed; its failure is what the path claims."""
    path, faults = [Step("main", edge) for edge in (0, 1, 2)], list[int]()
    for make, tell in faulty_inputs(path, 8, 4):
        inputs = make()
        answers = [inputs.answer(Question("allocation", INT, "malloc", 0, "main", edge, edge, 0)) for edge in (0, 7)]
        faults.append(answers.count(0))
        tell(path[: 1 + answers.count(0)])
    assert faults == [0, 1, 2, 1]


@pytest.mark.parametrize(
    ("path", "run", "found"),
    [
        ("abc", "abc", (3, ())),
        ("abc", "axbxc", (3, ())),
        ("abc", "abx", (2, (1,))),
        ("abcd", "axcx", (2, (0, 2))),
        ("abab", "abb", (3, (1,))),
        ("abc", "xx", (0, ())),
        ("abc", "xbxcx", (2, ())),
    ],
)
def test_runs_take_steps_of_a_path(path: str, run: str, found: tuple[int, tuple[int, ...]]) -> None:
    assert followed([Step(name, 0) for name in path], [Step(name, 0) for name in run]) == found


def test_the_nearest_questions_before_each_place_come_first() -> None:
    questions = [(number, Question("allocation", INT, "malloc", 0, "main", 0, 10 * number, 0)) for number in range(8)]
    order = sorted(ranked(questions, (15, 40, 65)))
    assert [number for _, (number, _) in order] == [1, 6, 0, 4, 2, 5, 3, 7]


def test_runs_find_the_characters_that_the_claimed_path_looks_for() -> None:
    """No formula is asked: the runs find one character after the other, since each takes them further along the path."""
    text = (
        "int getchar(void); int main(void) { int s = 0, c; while ((c = getchar()) != -1)"
        " { if (s == 0 && c == '/') s = 1; else if (s == 1 && c == '*') s = 2; else s = 0; }"
        ' if (s == 2) __assert_fail("", "", 1, "main"); return 0; }'
    )
    path = run_of(text, (ord("/"), ord("*"), -1)).path
    task = Task(program_of(text), Target("main", path[-1].edge, "assertion"), ("main",), path, Effort(seconds=0.8))
    decision = decide(task)
    assert isinstance(decision, Confirmed)
    assert decision.spent.paths == 0
    assert [value for question, value in decision.inputs if question.name == "getchar"][-3:] == [47, 42, -1]


OPTIONS = (
    "int main(int argc, char **argv) { int i, minor = 0; char *p = 0; for (i = 1; i < argc; i++) {"
    ' if (strcmp(argv[i], "--help") == 0) return 0;'
    ' if (strncmp(argv[i], "--level", 7) == 0) { if (++i == argc) return 1; if (strcmp(argv[i], "one") == 0) minor = 1;'
    ' else if (strcmp(argv[i], "two") == 0) minor = 2; else return 1; } }'
    " if (minor == WANTED) *p = 1; return 0; }"
)


@pytest.mark.parametrize("wanted", [1, 2])
def test_words_that_the_program_compares_with_are_tried(wanted: int) -> None:
    assert isinstance(decide(store(OPTIONS.replace("WANTED", str(wanted)), runs=64)), Confirmed)


def test_a_text_stands_where_its_first_character_was_asked_for() -> None:
    first = Question("memory", CHAR, "fresh 1", 0, "main", 1, 1, 0)
    inputs = Faulty(((0, Text(b"ab")),), 8)
    asked_at = [msgspec.structs.replace(first, offset=offset) for offset in (0, 1, 2)]
    assert [inputs.answer(one) for one in asked_at] == [ord("a"), ord("b"), 0]
    assert inputs.answer(msgspec.structs.replace(first, name="fresh 2")) == 0


def test_texts_are_those_of_the_path_and_else_those_of_the_function() -> None:
    program = program_of(OPTIONS.replace("WANTED", "1"))
    calls = [edge for edge in program.functions["main"].calls if ir.direct_callee(edge.effect) == "strcmp"]
    assert texts_near(program, ())("main") == (b"--help", b"--level", b"one", b"two")
    assert texts_near(program, [Step("main", calls[1].id)])("main") == (b"one",)
    assert texts_near(program, ())("nowhere") == ()
