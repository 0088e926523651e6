"""The system calls that no preprocessor needs, as a filter for seccomp.

The filter is a program for the kernel's packet filter ("Seccomp BPF" in the kernel's documentation): it answers each
of the calls below with EPERM and allows all others. Numbers are those of the kernel's tables, `arch/*/entry/syscalls`
and `asm-generic/unistd.h`.
"""

from __future__ import annotations

import errno
import functools
import struct
from collections.abc import Sequence
from typing import NamedTuple

# name: numbers on x86-64, on i386, and on the architectures with the generic table (aarch64, riscv64); -1: there is
# none
_DENIED = {
    "socket": (41, 359, 198),
    "socketcall": (-1, 102, -1),
    "ptrace": (101, 26, 117),
    "process_vm_writev": (311, 348, 271),
    "pidfd_getfd": (438, 438, 438),
    "io_uring_setup": (425, 425, 425),
    "unshare": (272, 310, 97),
    "setns": (308, 346, 268),
    "mount": (165, 21, 40),
    "bpf": (321, 357, 280),
    "perf_event_open": (298, 336, 241),
    "userfaultfd": (323, 374, 282),
    "add_key": (248, 286, 217),
    "request_key": (249, 287, 218),
    "keyctl": (250, 288, 219),
    "chmod": (90, 15, -1),
    "fchmod": (91, 94, 52),
    "fchmodat": (268, 306, 53),
    "fchmodat2": (452, 452, 452),
    "chown": (92, 182, -1),
    "chown32": (-1, 212, -1),
    "fchown": (93, 95, 55),
    "fchown32": (-1, 207, -1),
    "lchown": (94, 16, -1),
    "lchown32": (-1, 198, -1),
    "fchownat": (260, 298, 54),
    "utime": (132, 30, -1),
    "utimes": (235, 271, -1),
    "futimesat": (261, 299, -1),
    "utimensat": (280, 320, 88),
    "utimensat_time64": (-1, 412, -1),
    "setxattr": (188, 226, 5),
    "lsetxattr": (189, 227, 6),
    "fsetxattr": (190, 228, 7),
    "removexattr": (197, 235, 14),
    "lremovexattr": (198, 236, 15),
    "fremovexattr": (199, 237, 16),
    "setxattrat": (463, 463, 463),
    "removexattrat": (466, 466, 466),
}


class _Table(NamedTuple):
    """An architecture as seccomp names it (linux/audit.h), the column of its numbers, and the first number of other
    tables, or 0."""

    audit: int
    column: int
    others_from: int = 0


# by what `uname -m` says: the tables by which programs can call the kernel there; x32's numbers have bit 30
_MACHINES = {
    "x86_64": (_Table(0xC000003E, 0, 1 << 30), _Table(0x40000003, 1)),
    "aarch64": (_Table(0xC00000B7, 2),),
    "riscv64": (_Table(0xC00000F3, 2),),
}

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ, |BPF_JGE, BPF_RET
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


@functools.cache
def denied_program(machine: str, allowed: str = "") -> bytes:
    """The filter for a machine, as `uname -m` names it; empty for one whose numbers are not known. `allowed`: the name of a
    call that it does not stop.

    Calls by the numbers of an architecture that is not the machine's are not stopped, except those of x32.
    """
    program = b""
    for table in _MACHINES.get(machine, ()):
        section = _section(table, allowed)
        program += _instruction(_LOAD, _ARCHITECTURE_AT) + _instruction(_EQUAL, table.audit, 0, len(section) // 8) + section
    return program + _instruction(_RETURN, _ALLOW) if program else b""


def _section(table: _Table, allowed: str) -> bytes:
    """What is asked of a call by one table: one test for each number, each of which jumps to the end, to what
    refuses."""
    rows = (row for name, row in _DENIED.items() if name != allowed)
    tests: Sequence[tuple[int, int]] = [(_EQUAL, row[table.column]) for row in rows if row[table.column] >= 0]
    tests = [*([(_AT_LEAST, table.others_from)] if table.others_from else []), *tests]
    left = range(len(tests), 0, -1)
    asked = b"".join(_instruction(code, value, yes) for (code, value), yes in zip(tests, left, strict=True))
    return _instruction(_LOAD, _NUMBER_AT) + asked + _instruction(_RETURN, _ALLOW) + _instruction(_RETURN, _REFUSE)


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """struct sock_filter."""
    return struct.pack("=HBBI", code, yes, no, value)
