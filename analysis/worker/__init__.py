"""The checker process: `python -m analysis.worker` (messages in `analysis.wire`).

A thread reads requests (`inbox`), so that a newer edit is seen while a check runs: the check is then given up between two
files, or in the engine by a signal; what it has built stays, and it is done again on the newer text. Every request that has
arrived is applied before the next check starts, and of several checks asked for only one is done: the last (`service`).

Findings are reported as possible first (`told`). Provers decide them, in processes of their own, while this
one waits for requests: they are asked when no request waits, and what they say updates the results of files,
unless a text was changed since the check.

When no request waits there is time for what nobody waits for: what was found is kept in the store, at once where all texts are
as on the disk and else when nothing was typed for a while; and what an edit will need is brought into memory, after a start
that found everything in the store, and asked of the compiler. A request ends the packing of what is to be kept, not what an
edit needs as well. Which files the programs (`programs`) have is also looked at again then, and not at every key.

Standard output carries nothing but frames: whatever else prints goes to standard error.
"""
