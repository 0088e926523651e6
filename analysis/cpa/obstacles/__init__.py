"""Finds what CFAs and stores do not show, and a proof must not overlook.

Examples are threads, signal handlers, jumps, callbacks, addresses of code, and variables whose
lifetime has ended. `violable` finds the places where a rule can be violated at all. `completeness`
words the reasons that several engines give.

Models give each object an address of its own for ever, far from all others. `ended_pointers` finds
comparisons of pointers to what may be gone, and `compared_objects` those that depend on where
different objects lie; nothing is proved there. Models also leave padding as it was: `padding_bytes`
finds what reads it. All three ask `pointer_kinds` which pointers could have been made of which
others.

A part of a program knows which variables with static storage pointers from the rest of it, or from
other files, may lead to (`exposed_variables`, `Program.exposed`). Proofs of a function by itself
keep these in memory.
"""
