"""`everproof certify`: checks a certificate in a process of its own, in which no engine is loaded."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import click
import msgspec

from analysis.cli.certificate_request import Request
from analysis.cli.closing import NOBODY_READS
from analysis.cli.command_options import program_options, read_options
from analysis.cli.failure import Failure


@click.command()
@click.argument("certificate", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.argument("paths", metavar="PROGRAM...", nargs=-1, required=True)
@click.option(
    "--made-for",
    metavar="OLD",
    type=click.Path(exists=True),
    help="If PROGRAM is a later version: the version (a file or folder) that FILE was written for.",
)
@program_options
def certify(certificate: str, paths: tuple[str, ...], made_for: str | None, **given: Any) -> int:
    """Check that FILE, which `everproof check --certificate` wrote, proves what it claims of PROGRAM (files or folders).

    With --made-for OLD, FILE is about OLD, an earlier version. It is accepted for PROGRAM if its assertions hold there as well.

    Exit code: 0 the proof is accepted; 1 it is refused; 2 something asked for could not be done; 3 it is
    accepted, but does not cover all places of its rules.
    """
    options, wrong_settings = read_options(given, paths[0])
    request = msgspec.json.encode(Request(certificate, paths, options, made_for))
    # -P: the current folder, which is no more than opened, is not searched for modules
    done = subprocess.run([sys.executable, "-P", "-m", "analysis.cli.certifying"], input=request, check=False)
    if done.returncode not in (0, 1, 2, 3, NOBODY_READS):
        raise Failure(f"The checker of certificates ended with code {done.returncode}: try again with more memory.")
    return done.returncode or (2 if wrong_settings else 0)
