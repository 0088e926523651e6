"""The command `everproof`."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence

import click

from analysis.cli.closing import NobodyReadsError, end, fill_missing_streams, quietly

_INTERRUPTED = 130


_COMMANDS = {
    "check": "analysis.cli.check",
    "certify": "analysis.cli.certify",
    "batch": "analysis.cli.batch",
    "contracts": "analysis.cli.contracts",
    "diff": "analysis.cli.difference.diff_command",
    "revisions": "analysis.cli.revisions",
    "replay": "analysis.cli.replay_command",
    "witness": "analysis.cli.witness.command",
    "watch": "analysis.cli.watch",
    "serve": "analysis.cli.serve",
    "rules": "analysis.cli.rules",
    "dump": "analysis.cli.dumping",
    "cache": "analysis.cli.cache",
}  # the module of each: it defines the command under its name


class _Commands(click.Group):
    """Imports a command only when it is asked for: the language server must not wait for what it does not use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(_COMMANDS[cmd_name]), cmd_name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="everproof", prog_name="everproof")
def cli() -> None:
    """Verifies C programs while they are being written."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and gives its exit code (docs/guide.md): what a user can cause is one sentence, never a traceback."""
    os.environ["PYTHONSAFEPATH"] = "1"  # no Python that this one starts looks for modules in the current folder
    return quietly(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    output = sys.stdout
    try:
        code = cli.main(args=None if arguments is None else list(arguments), prog_name="everproof", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit as ended:
        if sys.stdout is not output:  # click took it away: its own words (--help) found nobody to read them
            raise NobodyReadsError from None
        raise ended
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        return 2
    except click.ClickException as error:
        _say(_sentence(error))
        return 2
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted.")
        return _INTERRUPTED
    except Exception as error:
        # A defect of ours, which the user can do nothing about but report; the traceback is shown on request.
        if os.environ.get("EVERPROOF_TRACEBACK"):
            raise
        kind = type(error).__name__
        _say(f"this is a defect of Everproof ({kind}: {error}); please report it, with EVERPROOF_TRACEBACK=1 set for details.")
        return 2


def command() -> None:
    """The installed command: `main`, and the end of the process."""
    fill_missing_streams()
    if sys.argv[1:2] in (["check"], ["diff"]):
        gc.disable()  # all that it makes is of use to its end
    end(main())


def _sentence(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split())
    command = getattr(getattr(error, "ctx", None), "command_path", None)
    if isinstance(error, click.UsageError) and command:
        return f"{text.rstrip('.')}: see `{command} --help`."
    return text


def _say(text: str) -> None:
    sys.stderr.write(f"everproof: {text}\n")


if __name__ == "__main__":
    command()
