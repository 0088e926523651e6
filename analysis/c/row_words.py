"""The words in the rows of the tables of library functions. `functions` says what the first three columns mean; to add a word
for the fourth is to add a line here."""

from __future__ import annotations

BESIDES = {
    "noreturn": "it does not return",
    "ends": "it ends the program where argument number 0 is not 0",
    "assertion": "it is called where an assertion failed",
    "setjmp": "it returns once more for each jump to it",
    "twice": "it returns twice, or more often",
    "jumps": "control goes on elsewhere in the program",
    "switches": "it makes a context, or a process, that runs what others ran",
    "registers": "code is called when the program ends or forks",
    "handler": "what it starts is a handler of signals",
    "thread": "what it starts is a thread",
    "buffers": "later calls of other functions write to what this one keeps",
    "elsewhere": "it accesses what it, or others of its family, were passed before",
    "allocates": "it may store a pointer to a new block in an object that it is passed, or return it",
    "frees": "it may free the block that a pointer leads to, in an object that it is passed",
    "zeroed": "the block that it returns holds zeros",
    "float": "there is one for `float`, too, with an `f` behind the name",
    "builtin": "compilers have it under the same name behind `__builtin_`, too",
    "same": "it returns the same for the same arguments, until the program changes what it says (by `setuid`, `setenv`, `fork`)",
    "errno": "what it returns leads to errno",
    "reads-errno": "it reads errno",
    "keeps-errno": "it does not change errno (others may: C11 7.5p3)",
    "table": "what it returns leads to a pointer that is not null",
    "by-number": "what it does depends on a number; a number that it is passed may be an address",
    "named-code": "it returns the address of a function or object by its name",
    "copies": "it copies as many bytes as its last argument says, from argument number 1 to argument number 0",
    "fills": "it writes argument number 1 into each of so many bytes",
    "absolute": "it returns the absolute value of its argument",
    "size_t": "it returns a `size_t`",
    "sign": "of the number that it returns only the sign is specified",
    "truth": "whether the number that it returns is 0 is specified, and not which other number it is",
    "nonnegative": "it returns any number that is not negative where it succeeds, and may fail",
    "may-fail": "it may fail, whatever it is passed, and returns another number then",
    "fails-unchanged": "it may fail, whatever it is passed; it returns another number than 0 then, and has changed nothing",
    "message": "what it returns leads to a text for people, which can be any",
    "checked": "compilers have one with the size of the object as one more argument, `__builtin___NAME_chk`",
    "error": "a call is the violation, whatever the program defines the function to do",
    "locks": "it waits for the lock, and takes it; where that can fail, 0 says that it did, and programs need not ask",
    "locks-at-zero": "it waits for the lock; 0 says that it took it",
    "locks-otherwise": "it waits for the lock; another number than 0 says that it took it",
    "tries-at-zero": "it takes the lock if nobody holds it, and returns 0 then",
    "tries-otherwise": "it takes the lock if nobody holds it, and does not return 0 then",
    "unlocks": "it releases the lock",
    "makes-lock": "it makes a lock that nobody holds",
    "any-kind": "the lock that it makes may be recursive, unless the second argument is 0",
    "ends-lock": "it ends the lock",
    "opens": "it may open descriptors whose numbers it does not return, or not as a new one's",
    "or-number": "where it is declared to return a number, it does; else a text: one that it is passed, or that does not end",
    "far-off": "it returns null only for times out of the ordinary, such as a year that `int` cannot hold",
    "signals": "it makes signals, or lets them come, so that handlers run",
    "environment": "it changes the environment: arrays and texts that were there may end",
    "sets": "it sets variables of the library (`library_variables.SET_BY`), and accesses what it was passed before",
    "controls": "what it does for that number is about files and devices: it reads and writes at most what it is passed",
    "open": "it does more than the row says",
}
_MORE_WORDS = """
    ends setjmp twice jumps switches registers handler thread buffers by-number named-code signals environment sets open
    """
INCOMPLETE = frozenset(_MORE_WORDS.split())
"""Those of functions that do more than their rows say."""
_USE_WORDS = """
    n any in copied text out inout one link beneath handle size format scan freed closed lock code later starts starts-inside kept
    ... out... va
"""
USES = frozenset(_USE_WORDS.split())
RESULTS = frozenset(
    ("", "number", "argument", "into", "block", "stack", "stream", "directory", "descriptor", "outside", "static", "any")
)
