"""What a run asks for, in which order, and what it does with the answers."""

from __future__ import annotations

from analysis.interpreter import Bounds, Fresh, Object, Observation, Question, Script, Start, execute
from analysis.interpreter.inputs import InputValue
from analysis.interpreter.outcome import NoInput, Returned
from tests.support.runs import main_of, program_of, run_of


class Recording:
    """Answers from a list, and keeps the questions."""

    def __init__(self, *values: InputValue | None) -> None:
        self.questions: list[Question] = []
        self._values = list(values)

    def answer(self, question: Question) -> InputValue | None:
        self.questions.append(question)
        return self._values.pop(0) if self._values else None


def test_inputs_are_asked_for_in_the_order_of_execution() -> None:
    text = "int f(int a, unsigned char b) { int x = external(0) + __VERIFIER_nondet_int(); return x + a * b; }"
    inputs = Recording(2, 300, 5, 7)
    run = run_of(text, entry="f", inputs=inputs)
    assert run.end == Returned(5 + 7 + 2 * (300 - 256))
    asked = [(q.kind, q.name, q.step, q.number) for q in inputs.questions]
    assert asked == [
        ("parameter", "a", 0, 0),
        ("parameter", "b", 0, 1),
        ("result", "external", 0, 0),
        ("result", "__VERIFIER_nondet_int", 1, 0),
    ]
    assert [value for _, value in run.asked] == [2, 300 - 256, 5, 7]  # values of the types
    assert run.assumptions == ("what external() does, which has no body",)


def test_a_question_without_answer_ends_the_run() -> None:
    run = run_of(main_of("return __VERIFIER_nondet_int();"))
    assert isinstance(run.end, NoInput)
    assert (run.end.question.kind, run.end.question.function) == ("result", "main")


def test_a_dropped_result_is_not_asked_for() -> None:
    inputs = Recording()
    assert run_of(main_of("__VERIFIER_nondet_int(); return 1;"), inputs=inputs).end == Returned(1)
    assert inputs.questions == []


def test_the_script_answers_by_position_first() -> None:
    text = main_of("int a = __VERIFIER_nondet_int(); int b = __VERIFIER_nondet_int(); return a * 10 + b;")
    assert run_of(text, inputs=Script([1, 2])).end == Returned(12)
    assert run_of(text, inputs=Script([1], at={(1, "result", 0): 7})).end == Returned(17)
    assert run_of(text, inputs=Script([1], rest=4)).end == Returned(14)


def test_both_branches_of_an_unknown_condition_see_one_value() -> None:
    text = "int f(int n, ...) { __builtin_va_list ap; __builtin_va_start(ap, n); return __builtin_va_arg(ap, int) > 3 ? 1 : 2; }"
    run = run_of(text, entry="f", inputs=Script([0], rest=5))
    assert run.end == Returned(1)
    assert run.assumptions != ()


def test_a_fresh_object_is_asked_for_as_it_is_read() -> None:
    text = "struct s { int v; struct s *next; }; int f(struct s *p) { return p->next->v * 10 + p->next->v + (p->next != p); }"
    inputs = Recording(Fresh(), Fresh(), 4)
    run = run_of(text, entry="f", inputs=inputs)
    assert run.end == Returned(45)
    memory = [(q.name, q.offset) for q in inputs.questions if q.kind == "memory"]
    assert memory == [("fresh 0", 8), ("fresh 1", 0)]


def test_fresh_objects_have_bounds() -> None:
    text = "int f(int *p, int i) { p[i] = 1; return p[i]; }"
    assert run_of(text, [Fresh(3), 2], entry="f").end == Returned(1)
    run = run_of(text, [Fresh(3), 3], entry="f")
    assert isinstance(run.end, Observation)
    assert run.end.kind == "array-bounds"


def test_inputs_can_point_to_what_is_there() -> None:
    text = "int g = 5; int id(int x) { return x; }"
    text += "int f(int *p, int *q, int (*h)(int), int *r) { *q = 9; int tens = h(*p) * 10; return tens + (r == q + 1); }"
    values = [Object("g"), Fresh(2), Object("id"), Object("fresh 0", 4)]
    assert run_of(text, values, entry="f").end == Returned(51)
    assert run_of(
        "int f(int *p, int *q) { *p = 1; *q = 2; return *p; }", [Fresh(), Object("fresh 0")], entry="f"
    ).end == Returned(2)


def test_globals_of_a_function_in_the_middle_of_a_program() -> None:
    text = "int g = 5; static struct { int a, b; } s; int f(void) { return g * 10 + s.b; }"
    assert run_of(text, entry="f").end == Returned(50)
    inputs = Recording(3, 4)
    assert run_of(text, entry="f", any_globals=True, inputs=inputs).end == Returned(34)
    assert [(q.name, q.offset) for q in inputs.questions] == [("g", 0), ("s", 4)]


def test_a_global_that_is_defined_nowhere_is_an_input() -> None:
    run = run_of("extern int limit; int main(void) { return limit + limit; }", [4])
    assert run.end == Returned(8)
    assert run.assumptions == ("what limit holds at the start",)


def test_allocation_can_fail() -> None:
    text = main_of("int *p = malloc(4); *p = 1; return 0;")
    assert run_of(text).end == Returned(0)
    run = run_of(text, inputs=Script(at={(0, "allocation", 0): 0}))
    assert isinstance(run.end, Observation)
    assert (run.end.kind, run.end.step) == ("null-dereference", 1)


def test_what_an_external_function_writes() -> None:
    text = main_of("int x = 1, y; external(&x); external(&y); return x * 10 + y;")
    assert run_of(text, [6]).end == Returned(16)  # x stays as it was, y is asked for when it is read
    written = Script(at={(2, "written", 0): 3, (3, "written", 0): 4})
    assert run_of(text, inputs=written).end == Returned(34)


def test_results_that_are_records_are_asked_for_member_by_member() -> None:
    text = "struct p { int x, y; }; struct p make(void); int main(void) { struct p p = make(), q = p; return p.y + q.y; }"
    inputs = Recording(1, 4)
    assert run_of(text, inputs=inputs).end == Returned(8)
    assert [q.offset for q in inputs.questions if q.kind == "memory"] == [0, 4]


def test_floating_inputs() -> None:
    text = "double half(void); float third(void); int main(void) { float f = third(); return half() * 4 + (f == 0.1f) * 100; }"
    assert run_of(text, [0.1, 0.5]).end == Returned(102)


def test_runs_are_deterministic() -> None:
    text = main_of(
        'int *a = malloc(4), *b = malloc(4); char *s = "x"; return (unsigned)(uintptr_t)a ^ (unsigned)(uintptr_t)b ^ (long)s;'
    )
    program = program_of(text)
    first = execute(program, Start("main"), Script(), Bounds(), record=True)
    run_of("int main(void) { return 0; }")
    assert execute(program, Start("main"), Script(), Bounds(), record=True) == first
    assert execute(program_of(text), Start("main"), Script(), Bounds(), record=True) == first


def test_going_past_an_indeterminate_value() -> None:
    text = main_of("int x, *p = &x, y; int z = y + *p; return z == y + *p && x != 3 ? z : 100;")
    inputs = Recording(2, 5)
    run = run_of(text, inputs=inputs, past=("uninitialized-read",))
    assert run.end == Returned(7)
    assert [(q.kind, q.name) for q in inputs.questions] == [("indeterminate", "y"), ("memory", "x")]
    assert run.assumptions == ("y is read before it has a value", "x is read before it has a value")


def test_going_past_signed_overflow() -> None:
    text = main_of("int x = 2147483647; int y = x + 1; y = -y; y = y * 3; return (y << 1 == 0) * 10 + (y < 0);")
    run = run_of(text, past=("signed-overflow",))
    assert run.end == Returned(11)
    assert run.assumptions[0] == "signed overflow wraps: 2147483647 + 1"
    assert len(run.assumptions) == 4
    assert isinstance(run_of(text).end, Observation)
