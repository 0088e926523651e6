"""The benchmark of difference verification: its tasks are what they are said to be, and its tables count them right."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.model.options import Options
from benchmarks.difference import Found, problems, tables
from benchmarks.difference_runs import Run, Verifier, run
from benchmarks.difference_tasks import Task, corpus_tasks
from benchmarks.joined_programs import joined
from benchmarks.larger_edits import LINES, larger_tasks

HEAD = "int __VERIFIER_nondet_int(); void reach_error(void);\n"
SAFE = HEAD + "int main() { int x = 3; if (__VERIFIER_nondet_int()) x = 4; if (x > 4) { reach_error(); } return 0; }\n"
BROKEN = SAFE.replace("x = 4", "x = 5")
LONG = SAFE.replace(
    "int main() {", "int main() {\n" + "    int unused = 7;\n    unused = 8;\n".replace("\n", "\n\n") * 1 + "\n" * 30
)


def corpus(folder: Path, larger: tuple[str, ...] = ("long.c",)) -> Path:
    files = {"safe.c": SAFE, "broken.c": BROKEN} | dict.fromkeys(larger, LONG)
    for name, text in files.items():
        (folder / "open").mkdir(exist_ok=True)
        (folder / "open" / name).write_text(text)
    head = "id,path,property,expected,category,kind,include_dir,cflags,data_model,note,ignore_lines"
    listed = "".join(f"O{number},open/{name},reach_error,true,,verdict,,,ILP32,,\n" for number, name in enumerate(larger))
    (folder / "open" / "index.csv").write_text(f"{head}\n{listed}")
    rows = "seq,path,property,expected\nown,open/safe.c,reach_error,true\nown,open/broken.c,reach_error,false\n"
    (folder / "open" / "incremental.csv").write_text(rows)
    return folder / "open"


def test_the_tasks_are_as_the_paper_makes_them(tmp_path: Path) -> None:
    tasks = list(corpus_tasks(corpus(tmp_path), 0))
    assert [(task.category, task.is_safe) for task in tasks] == [
        ("pair", False),
        ("pair", True),
        ("combination", False),
        ("combination", True),
        ("regressing", False),
        ("fixing", True),
        ("neutral", True),
        ("neutral", True),
    ]
    for task in tasks:
        found = {how: run(task, "symbolic", how, 10.0).said for how in ("complete", "diffCond", "diffDP")}
        assert found == dict.fromkeys(found, "proof" if task.is_safe else "alarm"), task


LARGER = (
    "int never(int *p) {\n    return *p;\n}\nint main(void) {\n    int x = 3;\n    int y = 2;\n"
    "    if (__VERIFIER_nondet_int() == 9) never(&y);\n    if (x > 4) reach_error();\n    return x / y;\n}\n" + "\n" * LINES
)


@pytest.mark.parametrize("about", ["reach_error", "div-by-zero"])
def test_edits_of_larger_programs_are_what_they_are_said_to_be(about: str, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "large.c").write_text(LARGER)
    head = "id,path,property,expected,category,kind,include_dir,cflags,data_model,note,ignore_lines"
    (tmp_path / "open" / "index.csv").write_text(f"{head}\nO1,open/large.c,{about},true,,verdict,,,LP64,,\n")
    (tmp_path / "open" / "incremental.csv").write_text("seq,path,property,expected\n")
    tasks = list(larger_tasks(tmp_path / "open", 0))
    assert [task.category for task in tasks] == ["large regressing", "large fixing", "large neutral"]
    assert "main(void) {" in tasks[0].new.partition(" seeded")[0].partition("reach_error();\n")[2]
    for task in tasks:
        assert "int never(int *p) {\n" in task.new  # a function that does not run is not edited
        found = {how: run(task, "symbolic", how, 10.0).said for how in ("complete", "diffCond", "diffDP")}
        assert found == dict.fromkeys(found, "proof" if task.is_safe else "alarm"), task


def test_each_pair_is_joined_with_two_programs(tmp_path: Path) -> None:
    found = corpus_tasks(corpus(tmp_path, ("long.c", "longer.c", "longest.c")), 0)
    tasks = [task for task in found if task.category == "combination"]
    assert [task.is_safe for task in tasks] == [False, False, True, True]
    assert len({task.name for task in tasks}) == 4
    assert ["main__1() { int x = 3" in task.new for task in tasks] == [False, True] * 2  # behind the partner, and before it


def test_a_joined_program_keeps_its_parts_apart() -> None:
    text = joined(SAFE.encode(), b"struct s { int x; }; static int x(struct s *p) { return p->x; } int main() { return x(0); }")
    assert text is not None
    assert "main__1()" in text
    assert "x__2(struct s__2 *p) { return p->x__2; }" in text
    assert joined(SAFE.encode(), b"int main() { return nothing; }") is None


@pytest.mark.parametrize("verifier", ["value", "predicate"])
def test_a_task_that_is_covered_needs_no_verifier(verifier: Verifier, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(SAFE)
    task = Task("neutral", "a", path, SAFE, SAFE.replace("int x = 3;", "int x = 3, y = 2;"), True, Options())
    found = run(task, verifier, "diffDP", 10.0)
    assert (found.said, found.left, found.verification) == ("proof", 0.0, 0.0)


def test_what_is_wrong_is_named() -> None:
    def said(*answers: str) -> dict[str, Run]:
        ways = ("complete", "diffCond", "diffDP")
        return {how: Run(answer, 0.1, 0.1, 0.5) for how, answer in zip(ways, answers, strict=True)}  # type: ignore[arg-type]

    found = [
        Found("pair", "one", "value", True, 5.0, said("proof", "proof", "alarm")),  # type: ignore[arg-type]
        Found("pair", "two", "value", False, 5.0, said("alarm", "unknown", "alarm")),  # type: ignore[arg-type]
    ]
    assert len(list(problems(found))) == 2
    assert any("| pair | value | 2 | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 1 | 1 |" in line for line in tables(found))
