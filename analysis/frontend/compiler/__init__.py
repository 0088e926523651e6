"""The user's compiler as a preprocessor: how it is found, which flags reach it, and the limits that it runs in."""
