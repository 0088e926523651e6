"""Keeps results in a store for later processes, and decides when they still hold (invariant I6).

A *snapshot* of a program (`archive`) has the report, the digests of all that it depends on, the
units (`stored_units`) and the derivation graph. One transaction writes it to a group of records in
an SQLite file, so a killed process leaves the previous one. The group's name is a digest of the tool, the
compiler, the options, the rules and the files that were named.

    first check ── snapshot? ── no ──> built and checked from nothing
                      │ yes
         all digests hold, and no missing file has appeared (`units.lookups`)?
                      │ yes                          │ no
         the report, and nothing else,       units and graph are read, models made again;
         is read ("resting")                 then as after any edit

CFAs are stored, because ids survive edits; models follow from CFAs and are made again. The command
line writes after it has printed its answer, the checker process when it is idle. With a file
open, an idle checker process loads the rest of the program, so that the first edit costs what any
edit does.

Not kept: stale functions, files that miss a header or had compiler errors, failed and unsettled
checks; texts with `__has_include` of what a macro says. Not noticed: a new system header installed in
front of another one, inside the compiler's own folders.
"""
