"""A live session of the language server in a terminal."""
