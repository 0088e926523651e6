"""Implements the command line: a module for each command and output format.

Commands that check do so through `analysis.api.Checker`; `dumping` shows what is inside. `certifying`
is the process that checks certificates, and loads no engine.
"""
