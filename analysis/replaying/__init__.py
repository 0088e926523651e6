"""Runs a confirmed finding as a compiled program, under sanitizers.

    run_inputs.RunStart ──> harness: arguments, and C that answers as the run's inputs did
    preprocessed units  ──> building: the compiler, with the harness, in a folder of its own
                        ──> running: the program, with limits ──> reports: what the sanitizers saw, and where

The preprocessed text is what is compiled, so that no flag and no header of the folder is used again. External functions
that the run asked for results are wrapped by the linker (`--wrap`): each call gives what it gave in the run, and looks at
what its arguments must point to. The locks of the Linux kernel, which no tool knows, are defined by the harness
(`lock_answers`). What cannot be given is refused with a sentence, and nothing is run.
"""
