"""Programs built with a harness and run in their room: what is reproduced, what goes another way, what they may not do."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.frontend.compiler.compiler_run import find_compiler, find_program_file
from analysis.model.c_types import INT, Function, Pointer, Void
from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding
from analysis.model.run_inputs import RunInput, RunStart
from analysis.replaying.building import Replayable, Unit
from analysis.replaying.replayed import Outcome, replay

NULL = b"""# 1 "a.c"
int next(void);
static int *at(int *cells, int n) { return n > 2 ? cells + n : 0; }
int get(int *cells)
{
    return *at(cells, next());
}
"""


needs_valgrind = pytest.mark.skipif(find_program_file("valgrind") is None, reason="valgrind is not installed")
LOCK = Function(INT, (Pointer(Void()),))


def at(line: int) -> Place:
    return Place("a.c", Range(Position(line, 1), Position(line, 9)))


def outcome(
    tmp_path: Path,
    text: bytes,
    run: RunStart,
    line: int,
    rule: str = "null-dereference",
    has_signed_char: bool = True,
    **externals: Function,
) -> Outcome:
    compiler = find_compiler(None)
    assert compiler is not None
    finding = Finding(rule, "confirmed", "error", "it fails", at(line), "get", "1", (), run=run)
    program = Replayable([Unit("a.c", text, True, has_signed_char)], externals)
    return replay(finding, program, compiler, tmp_path.resolve())


def test_a_run_is_made_again_with_its_inputs(tmp_path: Path) -> None:
    inputs = (RunInput("parameter", "cells", fresh=16), RunInput("result", "next", 1, size=4))
    found = outcome(tmp_path, NULL, RunStart("get", inputs), 5)
    assert (found.status, "null pointer" in found.said) == ("reproduced", True)


@pytest.mark.parametrize("is_signed", [True, False])
def test_characters_are_as_the_flags_of_the_file_say(tmp_path: Path, is_signed: bool) -> None:
    text = b"""# 1 "a.c"
int get(char *cells)
{
    char c = -1;
    return c < 0 ? 0 : *(char *)0;
}
"""
    run = RunStart("get", (RunInput("parameter", "cells", fresh=1),))
    assert outcome(tmp_path, text, run, 4, has_signed_char=is_signed).status == ("otherwise" if is_signed else "reproduced")


def test_other_inputs_go_another_way(tmp_path: Path) -> None:
    inputs = (RunInput("parameter", "cells", fresh=16), RunInput("result", "next", 3, size=4))
    found = outcome(tmp_path, NULL, RunStart("get", inputs), 5)
    assert (found.status, found.words) == ("otherwise", "the program ends with status 0")


def test_a_program_writes_nothing_outside_of_its_room(tmp_path: Path) -> None:
    outside, room = tmp_path / "outside", tmp_path / "room"
    outside.mkdir()
    room.mkdir()
    text = """# 1 "a.c"
void *fopen(const char *, const char *); int puts(const char *);
int main(void)
{
    puts(fopen("%s/mark", "w") ? "written" : "refused");
    puts(fopen("mark", "w") ? "written here" : "refused here");
    return 0;
}
"""
    found = outcome(room, (text % outside).encode(), RunStart("main"), 5)
    if "written\n" in found.said:
        pytest.skip("the system has no Landlock")
    assert found.said.splitlines()[:2] == ["refused", "written here"]
    assert list(outside.iterdir()) == []


def test_what_cannot_be_compiled_is_not_run(tmp_path: Path) -> None:
    found = outcome(tmp_path, b"int main(void) { return }\n", RunStart("main"), 1)
    assert found.status == "refused"
    assert "cannot be compiled" in found.words


LEAKS = b"""# 1 "a.c"
void *malloc(unsigned long); void free(void *);
static void *take(unsigned long size)
{
    return malloc(size);
}
int main(void)
{
    char *kept = take(8);
    char *lost = take(4);
    lost = 0;
    free(kept);
    return 0;
}
"""


@needs_valgrind
@pytest.mark.parametrize(("made_at", "status"), [((4, 9), "reproduced"), ((4, 8), "otherwise"), ((), "reproduced")])
def test_the_leak_of_another_block_is_not_that_of_the_finding(tmp_path: Path, made_at: tuple[int, ...], status: str) -> None:
    run = RunStart("main", made_at=tuple(map(at, made_at)))
    assert outcome(tmp_path, LEAKS, run, 12, "memory-leak").status == status


LOCKS = b"""# 1 "a.c"
struct mutex; int mutex_trylock(struct mutex *); int mutex_lock_interruptible(struct mutex *); void mutex_unlock(struct mutex *);
static char first[64], second[64];
int main(void)
{
    if (mutex_lock_interruptible((struct mutex *)first) == 0)
        mutex_lock_interruptible((struct mutex *)second);
    if (!mutex_trylock((struct mutex *)second))
        mutex_lock_interruptible((struct mutex *)second);
    mutex_unlock((struct mutex *)second);
    mutex_unlock((struct mutex *)first);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("first", "line"),
    [(0, 8), (-4, 10)],  # the first lock is taken, and then the second one twice; it is not, and released all the same
)
def test_the_harness_knows_the_locks_of_the_kernel(tmp_path: Path, first: int, line: int) -> None:
    run = RunStart("main", (RunInput("result", "mutex_lock_interruptible", first, size=4),))
    locks = dict.fromkeys(("mutex_trylock", "mutex_lock_interruptible", "mutex_unlock"), LOCK)
    found = outcome(tmp_path, LOCKS, run, line, "lock-discipline", **locks)
    assert (found.status, f"a.c:{line}" in found.said) == ("reproduced", True)


def test_compilers_know_functions_that_are_not_declared(tmp_path: Path) -> None:
    text = b"""# 1 "a.c"
void free(void *);
int main(void)
{
    char *p = malloc(8);
    free(p);
    free(p);
    return 0;
}
"""
    run = RunStart("main", (RunInput("allocation", "malloc", 1),))
    assert outcome(tmp_path, text, run, 6, "double-free").status == "reproduced"


@needs_valgrind
def test_a_pointer_that_comes_back_as_an_int_is_one_that_an_int_can_hold(tmp_path: Path) -> None:
    text = b"""# 1 "a.c"
void free(void *);
int main(void)
{
    int *p = (int *)borrow();
    free(p);
    return *p;
}
"""
    run = RunStart("main", (RunInput("result", "borrow", fresh=16),))
    undeclared = Function(INT, (), prototyped=False)
    assert outcome(tmp_path, text, run, 6, "use-after-free", borrow=undeclared).status == "reproduced"


@needs_valgrind
def test_a_value_that_was_never_set_is_seen_where_it_is_passed(tmp_path: Path) -> None:
    text = b"""# 1 "a.c"
void put(int);
int main(void)
{
    int n;
    put(n);
    return 0;
}
"""
    run = RunStart("main")
    assert outcome(tmp_path, text, run, 5, "uninitialized-read", put=Function(Void(), (INT,))).status == "reproduced"


@needs_valgrind
def test_a_function_that_is_answered_looks_at_its_stream(tmp_path: Path) -> None:
    text = b"""# 1 "a.c"
struct file; struct file *fopen(const char *, const char *); int fgetc(struct file *); int fclose(struct file *);
int main(void)
{
    struct file *f = fopen("/dev/null", "r");
    fclose(f);
    return fgetc(f);
}
"""
    read = Function(INT, (Pointer(Void()),))
    run = RunStart("main", (RunInput("result", "fgetc", 65, size=4),))
    assert outcome(tmp_path, text, run, 6, "use-after-close", fgetc=read).status == "reproduced"


@pytest.mark.parametrize("count", [0, 1])
def test_main_can_be_called_without_any_word(tmp_path: Path, count: int) -> None:
    text = b"""# 1 "a.c"
int main(int argc, char **argv)
{
    return argv[0][0];
}
"""
    run = RunStart("main", (RunInput("parameter", "argc", count, size=4),))
    assert outcome(tmp_path, text, run, 3).status == ("otherwise" if count else "reproduced")


def test_what_no_rule_is_about_does_not_stop_the_program(tmp_path: Path) -> None:
    text = b"""# 1 "a.c"
static char bytes[16];
int main(void)
{
    int *none = 0;
    *(int *)(bytes + 1) = 2;
    return *none;
}
"""
    assert outcome(tmp_path, text, RunStart("main"), 6).status == "reproduced"
