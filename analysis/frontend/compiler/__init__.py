"""Runs the user's compiler as a preprocessor: finds it, chooses its flags, and confines it.

Settings and `compile_commands.json` are parsed into `model.unit_flags.UnitFlags`; no flag leaves
the reader in another form. `command_line` makes the arguments. `compiler_run` passes a fixed list of
environment variables, bounds time and output, and kills the process group. `meaning_flags` lists
the flags that do not change what a text means; any other flag casts doubt on the file
(`Unit.doubt`). `confinement` applies limits, Landlock and seccomp (`system_calls`).
docs/security.md describes this for users.
"""
