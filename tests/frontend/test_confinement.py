"""What a program can do that runs in the compiler's place: nothing that a preprocessor need not do.

The class of defects: a hole elsewhere that lets a folder's code run in the compiler must gain it next to nothing.
"""

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.frontend.compiler import confinement
from analysis.frontend.compiler.compiler_run import Outcome, compiler_environment, run_compiler
from analysis.frontend.compiler.system_calls import denied_program
from analysis.frontend.text.preprocess import preprocess
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags

linux = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's")

_ATTEMPTS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void said(const char *what, long result) { printf("%s %s\n", what, result < 0 ? "refused" : "done"); fflush(stdout); }
static void limit(const char *what, int of) { struct rlimit l; getrlimit(of, &l); printf("%s %ld\n", what, (long)l.rlim_max); }

int main(int argc, char **argv) {
    int parent = atoi(argv[1]), status;
    if (argc == 3) { /* one that starts processes without end, up to a bound of its own */
        int child = 1;
        for (int i = 0; i < 20000 && child > 0; i++)
            if ((child = fork()) == 0) { close(1); close(2); pause(); }
        said("flood", child);
        return 0;
    }
    said("make", open("new", O_CREAT | O_WRONLY, 0600));
    said("append", open("there", O_WRONLY | O_APPEND));
    said("truncate", truncate("there", 0));
    said("remove", unlink("there"));
    said("rename", rename("there", "new"));
    said("mode", chmod("there", 0777));
    said("times", utimensat(AT_FDCWD, "there", 0, 0));
    said("folder", mkdir("d", 0777));
    said("link", symlink("there", "new"));
    said("read", open("there", O_RDONLY));
    said("device", open("/dev/zero", O_RDONLY));
    said("proc", open("/proc/self/environ", O_RDONLY));
    said("tcp", socket(AF_INET, SOCK_STREAM, 0));
    said("udp", socket(AF_INET, SOCK_DGRAM, 0));
    said("unix", socket(AF_UNIX, SOCK_STREAM, 0));
    said("signal", kill(parent, 0));
    said("trace", ptrace(PTRACE_ATTACH, parent, 0, 0));
    said("memory", mmap(0, 900000000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
    if (fork() == 0) { execl("./program", "program", (char *)0); _exit(77); }
    wait(&status);
    said("program", WEXITSTATUS(status) == 77 ? -1 : 0);
    if (fork() == 0) { execl("/bin/true", "true", (char *)0); _exit(77); }
    wait(&status);
    said("part", WEXITSTATUS(status) == 77 ? -1 : 0);
    limit("seconds", RLIMIT_CPU);
    limit("file", RLIMIT_FSIZE);
    limit("core", RLIMIT_CORE);
    limit("open", RLIMIT_NOFILE);
    return 0;
}
"""


def build(folder: Path, text: str) -> str:
    """A program that the compiler's place is taken by, in a folder of its own."""
    (folder / "there").write_text("there")
    (folder / "program").write_text("#!/bin/sh\nexit 0\n")
    (folder / "program").chmod(0o755)
    (folder / "compiler").mkdir()
    (folder / "compiler" / "cc.c").write_text(text)
    program = folder / "compiler" / "cc"
    subprocess.run(["gcc", "-o", program, folder / "compiler" / "cc.c"], check=True)
    return str(program)


def attempts(folder: Path, text: str, *arguments: str) -> dict[str, str]:
    program = build(folder, text)
    outcome = run_compiler([program, str(os.getpid()), *arguments], str(folder), b"", 60, Limits())
    assert (outcome.ended, outcome.status, outcome.stderr) == ("exited", 0, "")
    return dict(line.split() for line in outcome.stdout.decode().splitlines())  # type: ignore[misc]  # two words a line


@linux
def test_code_in_the_compilers_place_can_do_next_to_nothing(tmp_path: Path) -> None:
    if not confinement.has_landlock():
        pytest.skip("the kernel has no Landlock")
    refused = "make append truncate remove rename mode times folder link device proc tcp udp unix trace memory program"
    answers = attempts(tmp_path, _ATTEMPTS)
    assert {name: answers[name] for name in refused.split()} == dict.fromkeys(refused.split(), "refused")
    assert {name: answers[name] for name in ("read", "part")} == {"read": "done", "part": "done"}
    assert {name: answers[name] for name in ("seconds", "file", "core", "open")} == {
        "seconds": "11",
        "file": "0",
        "core": "0",
        "open": "256",
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compiler", "program", "there"]


@linux
def test_without_confinement_the_same_code_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the attempts above succeed when nothing prevents them."""
    monkeypatch.setattr(confinement, "_restrict_thread", lambda compiler, *room: None)
    monkeypatch.setattr(confinement, "_LIMITS", 'shift 4; exec "$@"')
    answers = attempts(tmp_path, _ATTEMPTS)
    attempted = "make append truncate rename mode times folder device proc tcp udp unix memory program"
    # `there` is removed before some of them
    assert {name for name in attempted.split() if answers[name] == "done"} >= {
        *("make", "append", "truncate", "folder", "device", "proc", "tcp", "udp", "unix", "memory", "program"),
    }


@linux
@pytest.mark.skipif(os.geteuid() == 0, reason="the limit on processes does not count for root")
def test_a_flood_of_processes_ends(tmp_path: Path) -> None:
    assert attempts(tmp_path, _ATTEMPTS, "flood") == {"flood": "refused"}


def test_what_a_compiler_leaves_behind_is_killed(tmp_path: Path) -> None:
    """The compiler itself ends at once; its child holds a pipe open as long as it lives."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(tmp_path / "pipe", os.O_WRONLY)
    waits = 'if (fork() == 0) { int held = open("pipe", O_RDONLY); close(1); close(2); for (;;) pause(); return held; }'
    program = build(tmp_path, f"#include <fcntl.h>\n#include <unistd.h>\nint main(void) {{ {waits} return 0; }}\n")
    assert run_compiler([program], str(tmp_path), b"", 60, Limits()).ended == "exited"
    os.close(reader)
    gone = select.poll()
    gone.register(writer, 0)  # POLLERR: nobody has it open to read
    assert gone.poll(60_000)
    os.close(writer)


@linux
def test_the_filter_is_one_that_the_kernel_takes() -> None:
    for machine in ("x86_64", "aarch64", "riscv64"):
        program = denied_program(machine)
        assert program
        assert len(program) % 8 == 0
        assert len(program) // 8 < 4096  # BPF_MAXINSNS
    assert denied_program("pdp11") == b""


def test_where_the_system_offers_nothing_the_compiler_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "_ruleset", lambda compiler, *room: None)
    monkeypatch.setattr(confinement, "denied_program", lambda machine: b"")
    monkeypatch.setattr(confinement, "_SHELL", str(tmp_path / "no-shell"))
    result = preprocess(str(tmp_path / "a.c"), b"#define A 1\nint a = A;\n", UnitFlags(), Options())
    assert (result.messages, b"int a = 1;" in result.text) == ((), True)


def test_a_program_that_ignores_all_is_not_waited_for(tmp_path: Path) -> None:
    """It never stops to complain, so there is always something to read."""
    program = build(tmp_path, '#include <unistd.h>\nint main(void) { for (;;) if (write(2, "no\\n", 3) < 0) return 1; }\n')
    outcome = run_compiler([program], str(tmp_path), b"", 0.5, Limits())
    assert outcome.ended == "timeout"


@pytest.mark.parametrize("seconds", [1e9, float("inf")])
def test_no_limit_is_too_long_to_wait_for(tmp_path: Path, seconds: float) -> None:
    limits = Limits(preprocess_seconds=seconds)
    result = preprocess(str(tmp_path / "a.c"), b"#define A 1\nint a = A;\n", UnitFlags(), Options(limits=limits))
    assert (result.messages, b"int a = 1;" in result.text) == ((), True)


_FLOOD = b"#define A0 1\n" + b"".join(b"#define A%d %s\n" % (i, b" ".join([b"A%d" % (i - 1)] * 8)) for i in range(1, 20))


@pytest.mark.parametrize(
    ("text", "seconds", "words"),
    [
        (b'#define ZERO "/dev/zero"\n#include ZERO\n', 30, "failed (/dev/zero"),
        (b'#define PIPE "pipe.h"\n#include PIPE\n', 1, "did not finish preprocessing within"),
        (_FLOOD + b"#define id(x) x\nint a = id(A19);\n", 30, "needs more than 100 MB of memory"),
        (b"int abcdefgh;\n" * 200_000, 30, "Preprocessing gives more than"),
        (b'#include "self.h"\n', 1, "reprocessing "),  # the bound of time or of output, whichever is met first
    ],
)
def test_a_hostile_text_is_one_sentence_and_bounded(tmp_path: Path, text: bytes, seconds: float, words: str) -> None:
    os.mkfifo(tmp_path / "pipe.h")
    (tmp_path / "self.h").write_text('#include "self.h"\n#include "self.h"\n')
    limits = Limits(preprocess_seconds=seconds, preprocess_megabytes=100, preprocessed_bytes=1_000_000)
    result = preprocess(str(tmp_path / "a.c"), text, UnitFlags(), Options(compiler="gcc", limits=limits))
    (message,) = result.messages
    assert words in message.text
    assert message.text.endswith("the text is used as it is, without expanding macros and headers.")
    assert result.raw


def test_the_environment_is_a_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = f"/usr/bin{os.pathsep}{os.pathsep}.{os.pathsep}bin{os.pathsep}{tmp_path}"
    for name in ("PATH", "LD_LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH"):
        monkeypatch.setenv(name, here)
    unwanted = [
        "GCC_EXEC_PREFIX",
        "COMPILER_PATH",
        "LD_PRELOAD",
        "LD_AUDIT",
        "GCC_SPECS",
        "CCC_OVERRIDE_OPTIONS",
        "BASH_ENV",
        "ENV",
    ]
    unwanted += ["DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CLANG_CONFIG_FILE_USER_DIR", "LANGUAGE", "COLLECT_GCC_OPTIONS"]
    for name in unwanted:
        monkeypatch.setenv(name, ".")
    monkeypatch.setenv("TMPDIR", "relative")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    environment = compiler_environment()
    assert not {*unwanted, "TMPDIR"} & environment.keys()
    assert {environment[name] for name in ("PATH", "LD_LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH")} == {
        f"/usr/bin{os.pathsep}{tmp_path}"
    }
    assert environment["LC_ALL"] == "C"


def test_a_library_in_the_current_folder_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`LD_LIBRARY_PATH=/x:` names the current folder, too: that of the file that is preprocessed."""
    (tmp_path / "evil.c").write_text("__attribute__((constructor)) static void sing(void) { __builtin_trap(); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "libz.so.1", tmp_path / "evil.c"], check=True)
    for name in ("libc.so.6", "libmpfr.so.6", "libgmp.so.10", "libisl.so.23", "libm.so.6"):
        (tmp_path / name).symlink_to("libz.so.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere:")
    loaded = subprocess.run(["gcc", "-E", "-x", "c", "/dev/null"], cwd=tmp_path, capture_output=True, check=False)
    assert loaded.returncode != 0, "the library is one that would be loaded"
    done: Outcome = run_compiler(["/usr/bin/env", "gcc", "-E", "-x", "c", "-"], str(tmp_path), b"int a;\n", 60, Limits())
    assert (done.status, b"int a;" in done.stdout) == (0, True)


@linux
@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not there")
@pytest.mark.parametrize(
    "text",
    [
        b"#pragma clang module build m\nmodule m {}\n#pragma clang module contents\nint a;\n#pragma clang module endbuild\n",
        b"#pragma clang __debug crash\n",
    ],
)
def test_a_text_cannot_have_the_compiler_write(tmp_path: Path, text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clang writes modules that a text defines, and a report when it crashes, without any flag."""
    if not confinement.has_landlock():
        pytest.skip("the kernel has no Landlock")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    result = preprocess(str(tmp_path / "a.c"), text, UnitFlags(), Options(compiler="clang"))
    assert len(result.messages) == 1
    assert list((tmp_path / "temporary").iterdir()) == []
