"""Tables that initialisers make: computed once for all runs of a program, and as they were at the start of each."""

from __future__ import annotations

from analysis.interpreter import Bounds, Script, Start, execute
from analysis.interpreter.outcome import Returned
from analysis.interpreter.program_code import code_of
from tests.support.runs import program_of

TABLES = """
int numbers[3] = {1, 2, 3}, other = 5, *addresses[2] = {&other, numbers + 1};
const char *words[2] = {"one", "two"};
int main(void)
{
	int found = numbers[0] * 1000 + *addresses[0] * 100 + *addresses[1] * 10 + (words[1][1] == 'w');
	numbers[0] = 7; addresses[0] = 0; words[1] = words[0]; other = 9;
	return found;
}
"""


def test_each_run_begins_with_what_the_initialisers_say() -> None:
    program = program_of(TABLES)
    for _ in range(3):
        end = execute(program, Start("main"), Script(()), Bounds()).end
        assert end == Returned(1521)


def test_what_every_run_finds_alike_is_kept_as_bytes() -> None:
    program, start = program_of(TABLES), Start("main")
    execute(program, start, Script(()), Bounds())
    code = code_of(program, start)
    assert "numbers" in code.initial
    assert "words" not in code.initial  # literals lie where a run first needs them
    assert {"numbers", "addresses", "words", "other"} <= code.initialisers.keys()
