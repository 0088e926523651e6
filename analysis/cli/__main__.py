"""`python -m analysis.cli` is the command `everproof`."""

from analysis.cli.main import command

command()
