"""Starts a compiler with the least that a preprocessor needs, so that a mistake elsewhere which lets a folder run
code gains little.

Everywhere there is a shell: limits on memory, processor time, open files and processes, no file may grow, no core is
written (`ulimit`, POSIX.1-2017; a `preexec_fn` in Python may deadlock in a process with threads). Windows has none of
this.

On Linux, in addition, as far as the kernel offers it:

- Landlock (kernel documentation, "Landlock: unprivileged access control"; from Linux 5.13 on): nothing is written,
  made or removed, no program is started but from the system's folders and the compiler's, no device and nothing below
  /proc is read, no TCP, no signal to other processes (the last two from Linux 6.7 and 6.12 on).
- seccomp (kernel documentation, "Seccomp BPF"): no socket, no change to the modes, owners and times of files, which
  Landlock leaves open, no tracing, no namespaces; neither set-user-id programs (`PR_SET_NO_NEW_PRIVS`).

Both count for a thread and what it starts. So a thread is made for each start, restricts itself, starts the compiler,
and ends: that costs a fraction of a millisecond, where bubblewrap, which does the same by namespaces, costs some four
and is often not allowed in containers. No library for this had a stable release when this was written; it is six
system calls.

A `Room` is for the one thing that is more than preprocessing, a replay that the user asks for: programs may write below one
folder, and one that was made there may run.

What the system does not offer is left out without a word: the flags alone (`command_line`) have to be safe.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import math
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

from analysis.frontend.compiler.system_calls import denied_program

_log = logging.getLogger("everproof.frontend")

_SHELL = "/bin/sh"
# Limits that cannot be set are those that are lower already, or that the system does not know. `-u` is bash's, `-p`
# dash's.
_LIMITS = (
    '{ ulimit -c 0; ulimit -f "$4"; ulimit -n 256; ulimit -t "$1"; [ -z "$2" ] || ulimit -v "$2"; '
    '[ -z "$3" ] || ulimit -u "$3" || ulimit -p "$3"; } >/dev/null 2>&1; shift 4; exec "$@"'
)
_FILE_BLOCKS = 204_800  # of 512 bytes, in a room: 100 MB
_MORE_PROCESSES = 256  # than the whole machine has; the limit is on all that the user runs, so it must not be tight

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture that counts
_GET_VERSION, _PATH_BENEATH = 1, 1

# Landlock's rights, by the bits of linux/landlock.h
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 5: 16}  # how many rights on files a version knows
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets, signals
_NOT_READ = frozenset(("dev", "proc", "sys"))
_PROGRAMS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", "/nix/store", "/gnu/store", "/snap")


class Room(NamedTuple):
    """What is allowed beyond preprocessing: to write below `folder`. `runs`: a program from there is run, under tools that
    look at /proc
    and trace the process that they are in. `has_shadow`: sanitizers are compiled in, which reserve more addresses than there is
    memory, so that these have no limit."""

    folder: str
    runs: bool = False
    has_shadow: bool = False


def start(
    argv: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    stdin: IO[bytes],
    seconds: float,
    megabytes: int,
    room: Room | None = None,
) -> subprocess.Popen[bytes]:
    """Starts `argv`, an absolute path and its arguments, confined; both outputs are pipes, and it leads a process
    group of its own.

    `seconds` is of processor time, `megabytes` of memory, both for each process. Raises OSError and ValueError as
    Popen does.
    """
    command = list(argv)
    if os.path.exists(_SHELL):
        memory = "" if room is not None and room.has_shadow else str(megabytes * 1000)
        limits = [str(math.ceil(seconds) + 1), memory, _most_processes(), "0" if room is None else str(_FILE_BLOCKS)]
        command = [_SHELL, "-c", _LIMITS, "everproof", *limits, *argv]
    started: list[subprocess.Popen[bytes]] = []
    failed: list[Exception] = []

    def begin() -> None:
        try:
            if sys.platform == "linux":
                _restrict_thread(argv[0], room)
            started.append(_popen(command, folder, environment, stdin))
        except Exception as error:
            failed.append(error)

    if sys.platform != "linux":
        begin()
    else:
        thread = threading.Thread(target=begin, name="everproof compiler")
        thread.start()
        thread.join()
    if failed:
        raise failed[0]
    return started[0]


def _popen(command: Sequence[str], folder: str, environment: Mapping[str, str], stdin: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _most_processes() -> str:
    """A limit that nothing but a flood of processes reaches; empty where the system does not say how many there
    are."""
    try:
        with open("/proc/loadavg", encoding="utf-8") as file:  # proc(5): the fourth field is running/all
            return str(int(file.read().split()[3].partition("/")[2]) + _MORE_PROCESSES)
    except (OSError, ValueError, IndexError):
        return ""


class _Filter(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _restrict_thread(compiler: str, room: Room | None) -> None:
    """Gives up, for the calling thread and what it starts, all that a preprocessor does not need, or that is not done in a
    room."""
    libc = _libc()
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return
    ruleset = _ruleset(compiler) if room is None else _new_ruleset(compiler, room)
    if ruleset is not None and libc.syscall(ctypes.c_long(_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint(0)) != 0:
        _log.debug("Landlock could not be used: %s", os.strerror(ctypes.get_errno()))
    if room is not None and ruleset is not None:
        os.close(ruleset)
    machine = os.uname().machine
    program = denied_program(machine, "ptrace") if room is not None and room.runs else denied_program(machine)
    if program:
        given = _Filter(len(program) // 8, program)
        if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(given), 0, 0) != 0:
            _log.debug("seccomp could not be used: %s", os.strerror(ctypes.get_errno()))


@functools.cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]
    libc.syscall.restype = ctypes.c_long
    return libc


def has_landlock() -> bool:
    """Whether the system has Landlock, which prevents a confined process from writing files."""
    return sys.platform == "linux" and _version() >= 1


def _version() -> int:
    version: int = _libc().syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(_GET_VERSION))
    return version


@functools.cache
def _ruleset(compiler: str) -> int | None:
    """The descriptor of the Landlock rules for a compiler, kept for all its runs; None where there is no Landlock."""
    return _new_ruleset(compiler, None)


def _new_ruleset(compiler: str, room: Room | None) -> int | None:
    libc, version = _libc(), _version()
    if version < 1:
        _log.debug("The kernel has no Landlock.")
        return None
    rights = (1 << max(count for since, count in _RIGHTS_BY_VERSION.items() if since <= version)) - 1
    handled = [rights, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0]
    known = handled[: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = (ctypes.c_uint64 * len(known))(*known)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    ruleset: int = libc.syscall(ctypes.c_long(_CREATE_RULESET), ctypes.byref(attributes), size, ctypes.c_uint(0))
    if ruleset < 0:
        return None
    for name in sorted(os.listdir("/")):
        if name not in _NOT_READ or (name == "proc" and room is not None and room.runs):
            _allow(ruleset, f"/{name}", _READ_FILE | _READ_DIR)
    _allow(ruleset, "/dev/shm", _READ_FILE | _READ_DIR)
    _allow(ruleset, os.devnull, rights & (_READ_FILE | _WRITE_FILE | _TRUNCATE))
    for path in (*_PROGRAMS, *_program_folders(compiler)):
        _allow(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
    if room is not None:
        _allow(ruleset, room.folder, rights)
    return ruleset


def _program_folders(compiler: str) -> tuple[str, ...]:
    """Where the parts of a compiler can be: below the folder above its `bin`; if that is someone's home, just beside
    it."""
    found = []
    for path in (compiler, os.path.realpath(compiler)):
        beside = os.path.dirname(path)
        prefix = os.path.dirname(beside)
        shared = ("/", os.path.expanduser("~"), os.path.dirname(os.path.expanduser("~")))
        found.append(prefix if os.path.basename(beside) == "bin" and prefix not in shared else beside)
    return tuple(dict.fromkeys(found))


class _Beneath(ctypes.Structure):
    """struct landlock_path_beneath_attr."""

    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Allows something of a file, or of all below a folder; nothing if it is not there."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= ~_READ_DIR
        rule = ctypes.byref(_Beneath(rights, opened))
        numbers = ctypes.c_long(_ADD_RULE), ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH)
        _libc().syscall(*numbers, rule, ctypes.c_uint(0))
    finally:
        os.close(opened)
