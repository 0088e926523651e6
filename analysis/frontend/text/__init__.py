"""Preprocesses the editor's text, repairs the result after small edits, and maps offsets back to places.

The compiler as a preprocessor would take most of the time of a keystroke. If the edited part of a
line contains no macro, `line_edit` edits the preprocessed text instead; `macros` knows the names
that need the compiler. `blank_edit` handles edits in comments and between lines: no token changes,
only line numbers below.
"""
