"""Functions of the library are passed streams that are there: a null pointer for one is a violation, whatever variable it is in.

The class: what is called like a stream of the library and is another variable, or was assigned to.
"""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, decide_program
from analysis.engines.symbolic.task import Decision
from analysis.interpreter.outcome import Observation, Returned
from tests.support.runs import main_of, program_of, run_of

_FUNCTIONS = "int fputs(const char *, FILE *); int fflush(FILE *); int fgetc(FILE *); extern FILE *stdout;"


def decided(text: str) -> Decision:
    return decide_program(
        ProgramTask(program_of(_FUNCTIONS + text), frozenset({"null-dereference"}), Effort(seconds=30, states=2_000))
    )


@pytest.mark.parametrize(
    "text",
    [
        'static void say(FILE *stdout) { fputs("hi", stdout); } int main(void) { say(0); return 0; }',
        'int main(void) { FILE *stdout = 0; fputs("hi", stdout); return 0; }',
        'int main(void) { stdout = 0; fputs("hi", stdout); return 0; }',
        'int main(void) { stdout = fopen("x", "w"); fputs("hi", stdout); return 0; }',
        'int main(void) { FILE **at = &stdout; *at = 0; fputs("hi", stdout); return 0; }',
        'static FILE **at = &stdout; int main(void) { *at = 0; fputs("hi", stdout); return 0; }',
        'FILE *stdin; int main(void) { fputs("hi", stdin); return 0; }',
        "FILE *stdin = 0; int main(void) { fgetc(stdin); return 0; }",
        'int main(void) { fprintf(0, "hi"); return 0; }',
    ],
)
def test_null_is_no_stream(text: str) -> None:
    found = decided(text)
    assert not isinstance(found, Refuted), found
    if "fopen" not in text:
        assert isinstance(found, Confirmed), found


def test_streams_of_the_library_are_there() -> None:
    assert isinstance(decided('int main(void) { fputs("hi", stdout); fprintf(stderr, "hi"); return 0; }'), Refuted)


def test_runs_look_at_streams() -> None:
    found = run_of(main_of('return fputs("hi", 0);', _FUNCTIONS)).end
    assert isinstance(found, Observation)
    assert found.kind == "null-dereference"
    assert run_of(main_of("return fflush(0);", _FUNCTIONS)).end == Returned(0)
