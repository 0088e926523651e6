"""The variables of the library: programs declare them, and do not define them."""

from __future__ import annotations

from collections.abc import Mapping

STREAMS = frozenset(("stdin", "stdout", "stderr"))
"""The streams that are open when a program starts (C11 7.21.1p3, 7.21.3p7)."""

_POSIX_WORDS = "environ optarg optind opterr optopt signgam daylight timezone tzname getdate_err in6addr_any in6addr_loopback"
_POSIX = frozenset(_POSIX_WORDS.split())
SECOND_NAMES = {
    "__environ": "environ",
    "_environ": "environ",
    "__daylight": "daylight",
    "__timezone": "timezone",
    "__tzname": "tzname",
}
"""Other names of variables of the library, which are the same objects (GNU C library, `unistd.h` and `time.h`)."""
_GNU = frozenset(
    (
        *SECOND_NAMES,
        "argp_err_exit_status",
        "argp_program_bug_address",
        "argp_program_version",
        "argp_program_version_hook",
        "error_message_count",
        "error_one_per_line",
        "error_print_progname",
        "obstack_alloc_failed_handler",
        "obstack_exit_failure",
        "program_invocation_name",
        "program_invocation_short_name",
        "re_syntax_options",
        "sys_errlist",
        "sys_nerr",
    )
)
CODE_VARIABLES = frozenset(("argp_program_version_hook", "error_print_progname", "obstack_alloc_failed_handler"))
"""Those that lead to functions (GNU C library)."""
LIBRARY_VARIABLES = STREAMS | _POSIX | _GNU
"""All of them (C11, POSIX.1-2008 XSH 2.2.2, GNU C library). When a program starts, none holds the address of an object of its
own."""
_OF_GETOPT = frozenset(("optarg", "optind", "optopt"))
ENVIRON = "environ"
"""The variable that leads to the environment (POSIX)."""
_OF_TZSET = frozenset(("daylight", "timezone", "tzname"))
_AS_TZSET = "tzset mktime timegm ctime ctime_r localtime localtime_r strftime strptime"
SET_BY: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("getopt", "getopt_long", "getopt_long_only"), _OF_GETOPT),
    **dict.fromkeys(_AS_TZSET.split(), _OF_TZSET),
}
"""The variables that functions of the library set, by the name of the function (POSIX.1-2008 getopt and tzset; GNU C library)."""
