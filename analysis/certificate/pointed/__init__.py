"""Says what pointers lead to in whole programs.

It says so for runs from `main` of programs all of whose code is seen; and which blocks and streams these never end. It is a
points-to analysis by inclusion constraints ([ANDERSEN]). It ignores the order of statements and which call a value came through,
and has one *node* for all that an object holds, whatever the types: so unions, casts, copies of bytes and of records need no
rules of their own.

    whole_program ──> solution ──> library_constraints ──┐
                               └─> constraints ──────────┴─> nodes

An object is a variable, or all that one call of the library's allocates or opens. Functions are looked at when something that
runs may call them. What is not known of a value is the node `ANYTHING`; where something is written, ended or called through such
a value, nothing is shown of the program at all.

It rests on `assumptions.COPIED_POINTERS`: pointers in memory are copies of other pointers. A conversion of a number to a pointer
may give any pointer nevertheless.
"""
