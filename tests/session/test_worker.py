"""The checker process over its wire."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from analysis.model.options import Options
from analysis.model.settings import Settings
from analysis.wire import Check, CheckDone, Configure, Edit, Event, FileResult, Shutdown, decode_event, frame, frame_length

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
GOOD = "int f(void)\n{\n    int x = 1, *p = &x;\n    return *p;\n}\n"


class Worker:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.generation = 0

    def send(self, *requests: Configure | Edit | Check | Shutdown) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(frame(request) for request in requests))
        self.process.stdin.flush()

    def next(self) -> Event:
        assert self.process.stdout is not None
        header = self.process.stdout.read(4)
        assert len(header) == 4, "the worker ended"
        return decode_event(self.process.stdout.read(frame_length(header)))

    def until_done(self) -> tuple[dict[str, FileResult], CheckDone]:
        """The file results up to the end of the check, in order, by file name."""
        results: dict[str, FileResult] = {}
        while True:
            event = self.next()
            if isinstance(event, FileResult):
                results[os.path.basename(event.path)] = event
            if isinstance(event, CheckDone):
                return results, event

    def numbered(self) -> int:
        self.generation += 1
        return self.generation

    def configure(self, *folders: Path, options: Options = Options(engine="automaton")) -> None:  # noqa: B008 - immutable
        self.send(Configure(self.numbered(), options, tuple(map(str, folders))))

    def edit(self, path: Path, version: int, text: str | None) -> None:
        self.send(Edit(self.numbered(), str(path), version, text))

    def check(self, *focus: Path, full: bool = False) -> tuple[dict[str, FileResult], CheckDone]:
        self.send(Check(self.numbered(), tuple(map(str, focus)), full))
        return self.until_done()


@contextmanager
def worker() -> Iterator[Worker]:
    command = [sys.executable, "-m", "analysis.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield Worker(process)
            assert process.stdin is not None
            assert process.stderr is not None
            process.stdin.close()
            assert process.wait(30) == 0
            assert process.stderr.read() == b""
        finally:
            process.kill()


def rules(result: FileResult) -> list[tuple[str, int]]:
    return [(finding.rule, finding.place.range.start.line) for finding in result.findings]


def test_the_unsaved_text_counts_and_the_result_has_its_version(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(GOOD)
    with worker() as w:
        w.configure(tmp_path)
        results, done = w.check(file)
        assert rules(results["a.c"]) == []
        assert results["a.c"].version is None
        w.edit(file, 3, BAD)
        results, done = w.check(file)
        assert rules(results["a.c"]) == [("null-dereference", 4)]
        assert results["a.c"].path == str(file)
        assert results["a.c"].version == 3
        assert [f.name for f in results["a.c"].functions] == ["f"]
        assert results["a.c"].generation == done.generation == w.generation
        w.edit(file, 4, None)
        results, _ = w.check(file)
        assert rules(results["a.c"]) == []
        assert results["a.c"].version is None


def test_of_several_checks_that_wait_only_the_last_is_done(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(GOOD)
    with worker() as w:
        w.send(
            Configure(1, Options(engine="automaton"), (str(tmp_path),)),
            Edit(2, str(file), 1, "int g("),
            Check(3, (str(file),)),
            Edit(4, str(file), 2, BAD),
            Check(5, (str(file),)),
        )
        results, done = w.until_done()
        while done.generation < 5:  # the first check may have begun before the second edit came
            results, done = w.until_done()
        assert results["a.c"].version == 2
        assert rules(results["a.c"]) == [("null-dereference", 4)]


def test_a_finding_in_a_header_goes_when_the_unsaved_header_is_right(tmp_path: Path) -> None:
    header, file = tmp_path / "get.h", tmp_path / "a.c"
    header.write_text("static int get(int *p)\n{\n    return *p;\n}\n")
    file.write_text('#include "get.h"\nint f(void) { return get(0); }\n')
    with worker() as w:
        w.configure(tmp_path)
        results, _ = w.check(file)
        assert rules(results["get.h"]) == [("null-dereference", 3)]
        w.edit(header, 1, "static int get(int *p)\n{\n    return p ? *p : 0;\n}\n")
        results, _ = w.check(file)
        assert rules(results["get.h"]) == []
        assert results["get.h"].version == 1


def test_a_file_outside_every_folder_is_checked_alone_and_forgotten_when_closed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
    (inside / "a.c").write_text(GOOD)
    (outside / "b.c").write_text(BAD)
    with worker() as w:
        w.configure(inside)
        results, _ = w.check(inside / "a.c")
        assert list(results) == ["a.c"]
        w.edit(outside / "b.c", 1, BAD)
        results, _ = w.check(outside / "b.c")
        assert rules(results["b.c"]) == [("null-dereference", 4)]
        w.edit(outside / "b.c", 2, None)
        results, _ = w.check(inside / "a.c")
        assert rules(results["b.c"]) == []


def test_two_folders_are_two_programs(tmp_path: Path) -> None:
    for name, text in (("one", BAD), ("two", GOOD)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.c").write_text(text)
    with worker() as w:
        w.configure(tmp_path / "one", tmp_path / "two")
        results, _ = w.check(tmp_path / "two" / "two.c")
        assert {name: rules(result) for name, result in results.items()} == {
            "two.c": [],
            "one.c": [("null-dereference", 4)],
        }
        assert next(iter(results)) == "two.c"


def test_a_function_that_does_not_parse_keeps_its_findings_marked_stale(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(BAD)
    with worker() as w:
        w.configure(tmp_path)
        w.check(file)
        w.edit(file, 1, "\n" + BAD.replace("return *p;", "return *p +;"))
        results, _ = w.check(file)
        assert rules(results["a.c"]) == [("null-dereference", 5)]
        assert [(f.name, f.stale) for f in results["a.c"].functions] == [("f", True)]
        w.edit(file, 2, GOOD)
        results, _ = w.check(file)
        assert rules(results["a.c"]) == []
        assert [(f.name, f.stale) for f in results["a.c"].functions] == [("f", False)]


def test_a_file_that_is_not_on_the_disk_yet_belongs_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int get(int *p);\nint f(void) { return get(0); }\n")
    with worker() as w:
        w.configure(tmp_path)
        w.edit(tmp_path / "new.c", 1, "int get(int *p)\n{\n    return *p;\n}\n")
        results, _ = w.check(tmp_path / "new.c")
        assert rules(results["new.c"]) == [("null-dereference", 3)]


def test_garbage_ends_the_process_cleanly() -> None:
    command = [sys.executable, "-m", "analysis.worker"]
    done = subprocess.run(command, input=b"\x00\x00\x00\x02\xc1\xc1", capture_output=True, timeout=30)
    assert done.returncode == 0
    assert done.stdout == b""
    assert b"cannot be understood" in done.stderr
    assert b"Traceback" not in done.stderr


def test_shutdown_ends_the_process(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "analysis.worker"], input=frame(Shutdown(1)), capture_output=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_a_folder_says_of_functions_holds_for_that_folder_alone(tmp_path: Path) -> None:
    text = "void put(int *p);\nvoid f(int *p)\n{\n    put(p);\n    put(p);\n}\n"
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        (folder / ".everproof" / "functions").mkdir(parents=True)
        (folder / f"{folder.name}.c").write_text(text)
        (folder / ".everproof" / "functions" / "own.yaml").write_text("functions: []")
    contracts = folders[0] / ".everproof" / "functions" / "own.yaml"
    contracts.write_text("functions: [{name: put, arguments: [{frees: true}]}]")
    options = msgspec.structs.replace(Settings().options(tuple(map(str, folders))), engine="automaton")
    with worker() as checker:
        checker.configure(*folders, options=options)
        results, _ = checker.check()
        assert {name: rules(result) for name, result in results.items()} == {"one.c": [("double-free", 5)], "other.c": []}
        contracts.write_text("functions: [{name: put, arguments: [{frees: maybe}]}]")
        checker.configure(*folders, options=options)  # what the server does when the file changes
        results, _ = checker.check()
        assert {name: rules(result) for name, result in results.items()} == {"one.c": [], "other.c": [], "own.yaml": []}
        said = [message.text for message in results["own.yaml"].messages]
        assert said == ["The contract of put is not used: functions.1.arguments.1.frees: must be true or false, not text."]
