"""The commands of `everproof`: each is imported only when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import click

from analysis.cli.main import cli


def test_each_command_is_found_under_its_name() -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert command.name == name


def test_the_language_server_waits_for_no_other_command() -> None:
    code = "import sys, analysis.cli.main as m; m.cli.get_command(None, 'serve'); print('analysis.api' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
