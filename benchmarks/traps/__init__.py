"""Small programs with a defect, each with a corrected twin (`fixtures/traps`): what compilers and sanitizers say of them, and
what each engine says.

    python -m benchmarks.traps establish        # run those whose text is new under sanitizers, and keep what they said
    python -m benchmarks.traps ask [NAME ...]   # ask engines about them
"""
