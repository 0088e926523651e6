"""What functions of the C library return, and leave in `errno`, is theirs: no run is a confirmed violation that takes a value for
it which the function cannot give.

The class: results outside of the function's range, results that are records, results that follow from the arguments, and `errno`
after any call.
"""

from __future__ import annotations

import msgspec
import pytest

from analysis.cfa.graph import Program
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, decide_program
from analysis.engines.symbolic.task import Decision
from analysis.interpreter import Script, Start, execute
from analysis.interpreter.outcome import Returned
from tests.support.runs import program_of


def decided(text: str, rule: str = "assertion") -> Decision:
    return decide_program(ProgramTask(program_of(text), frozenset({rule}), Effort(seconds=60, states=2_000)))


def system(declarations: str) -> str:
    """Declarations as a system header makes them."""
    return f'# 1 "/usr/include/some.h" 1 3 4\n{declarations}\n# 1 "p.c" 2\nvoid reach_error(void);\n'


IMPOSSIBLE = {
    "a terminal or none": ("int isatty(int);", "if (isatty(1) > 1) reach_error();"),
    "rand() is not negative": ("int rand(void);", "if (rand() < 0) reach_error();"),
    "random() is not negative": ("long random(void);", "if (random() < 0) reach_error();"),
    "random() has 31 bits": ("long random(void);", "if (random() >> 31) reach_error();"),
    "getchar() is a character or -1": ("int getchar(void);", "if (getchar() > 255) reach_error();"),
    "a process has a positive number": ("int getpid(void);", "if (getpid() == 0) reach_error();"),
    "the remainder of 7 by 4": (
        "typedef struct { int quot, rem; } div_t; div_t div(int, int);",
        "div_t d = div(7, 4); if (d.rem == 0) reach_error();",
    ),
    "a number out of range": (
        "long strtol(const char *, char **, int); int *__errno_location(void);",
        'strtol("99999999999999999999", 0, 10); if (*__errno_location() == 0) reach_error();',
    ),
    "a closed descriptor": (
        "int close(int); int *__errno_location(void);",
        "*__errno_location() = 0; if (close(-1) && *__errno_location() == 0) reach_error();",
    ),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_a_function_cannot_give_confirms_nothing(what: str) -> None:
    declarations, body = IMPOSSIBLE[what]
    assert not isinstance(decided(system(declarations) + "int main(void) { " + body + " return 0; }"), Confirmed)


POSSIBLE = {
    "a terminal or none": ("int isatty(int);", "if (isatty(1)) reach_error();"),
    "a file that is not there": ("int access(const char *, int);", 'if (access("f", 0)) reach_error();'),
    "rand": ("int rand(void);", "if (rand() > 1000) reach_error();"),
    "getchar": ("int getchar(void);", "if (getchar() < 0) reach_error();"),
    "errno that no call follows": (
        "int *__errno_location(void);",
        "*__errno_location() = 0; if (*__errno_location() == 0) reach_error();",
    ),
}


@pytest.mark.parametrize("what", POSSIBLE)
def test_what_a_function_can_give_confirms(what: str) -> None:
    declarations, body = POSSIBLE[what]
    assert isinstance(decided(system(declarations) + "int main(void) { " + body + " return 0; }"), Confirmed)


@pytest.mark.parametrize(("text", "value"), [("-1", -1), ("-99999999999999999999", -1), ("99999999999999999999", -1), ("7", 7)])
def test_numbers_without_sign_are_negated_or_the_greatest(text: str, value: int) -> None:
    body = f'unsigned long strtoul(const char *, char **, int); int main(void) {{ return (int)strtoul("{text}", 0, 10); }}'
    assert execute(program_of(body), Start("main"), Script()).end == Returned(value)


@pytest.mark.parametrize(
    ("declarations", "calls", "is_known"),
    [
        ("int unlink(const char *);", 'unlink("f");', True),
        ("void (*signal(int, void (*)(int)))(int);", "signal(13, (void (*)(int))1);", True),
        ("struct stat { long size; }; int stat(const char *, struct stat *);", 'struct stat s; stat("f", &s);', False),
        ("int unheard_of(const char *);", 'unheard_of("f");', False),
    ],
)
def test_what_a_function_of_the_system_only_answers_matters_to_nobody(declarations: str, calls: str, is_known: bool) -> None:
    """A run after a call that writes nothing the program has, and whose result it does not look at."""
    body = f"int main(void) {{ {calls} if (getchar() < 0) reach_error(); return 0; }}"
    program = program_of(f"{declarations} int getchar(void); {body}")
    externals = {name: msgspec.structs.replace(external, system=True) for name, external in program.externals.items()}
    program = Program(program.functions, program.globals, externals, program.records, program.address_taken)
    task = ProgramTask(program, frozenset({"assertion"}), Effort(seconds=1, runs=32))
    assert isinstance(decide_program(task), Confirmed) == is_known
