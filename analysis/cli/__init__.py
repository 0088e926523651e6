"""Implements the command line: one module for each command, and one for each output format.

Commands that check do so through `analysis.api.Checker`; `dumping` shows what is inside. `certifying`
is the process that checks certificates, and loads no engine.
"""
