"""The command `everproof`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

import click

from analysis.cli.cache import cache
from analysis.cli.certify import certify
from analysis.cli.check import check
from analysis.cli.dump import dump
from analysis.cli.json_format import everproof_version
from analysis.cli.revisions import revisions
from analysis.cli.rules import rules
from analysis.cli.serve import serve
from analysis.cli.watch import watch

_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(everproof_version(), prog_name="everproof")
def cli() -> None:
    """Verifies C programs while they are being written."""


for _command in (check, certify, revisions, watch, serve, rules, dump, cache):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and gives its exit code (INTERFACE.md): what a user can cause is one sentence, never a traceback."""
    try:
        code = cli.main(args=None if arguments is None else list(arguments), prog_name="everproof", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        _say(_sentence(error))
        return 2
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted.")
        return _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads on: say nothing when Python flushes at its end
        return 1
    except Exception as error:
        # A defect of ours, which the user can do nothing about but report; the traceback is for who asks for it.
        if os.environ.get("EVERPROOF_TRACEBACK"):
            raise
        kind = type(error).__name__
        _say(f"this is a defect of Everproof ({kind}: {error}); please report it, with EVERPROOF_TRACEBACK=1 set for details.")
        return 2


def command() -> None:
    """The installed command: `main`, without taking apart what the process holds when it ends, which takes as long as parsing."""
    if sys.argv[1:2] == ["check"]:
        gc.disable()  # all that it makes is of use to its end
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _sentence(error: click.ClickException) -> str:
    text = error.format_message().replace("\n", " ")
    command = getattr(getattr(error, "ctx", None), "command_path", None)
    if isinstance(error, click.UsageError) and command:
        return f"{text.rstrip('.')}: see `{command} --help`."
    return text


def _say(text: str) -> None:
    sys.stderr.write(f"everproof: {text}\n")


if __name__ == "__main__":
    command()
