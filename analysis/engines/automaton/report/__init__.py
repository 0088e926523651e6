"""Turns a derivation graph into findings with traces, verdicts of functions, and drawings.

`findings` searches for paths only where the graph changed, or where a call on the path now writes
cells that the search depended on: in the edited function at once, elsewhere after the first answer.
So two answers follow an edit with distant effects. Where a program is again what it was in one of the
last revisions, what was found then holds (`earlier_revisions`). `reported` says what of a reported finding holds after an edit,
with what was asked of `where_steps_stand`. `chains` keeps the calls from the program's
entry to the function of a finding until the graph differs on that chain. `answers` keeps what it
returns for functions whose graph and verdicts stay. `alike_errors` says which errors have one cause, so that one is reported.
`path_evidence` says what speaks for a finding, by its path (`tracked_path`, `assertion_evidence`; `places_in_memory`,
`questions`, `searches` and `skipped_loops` look for what was asked or done before, `tagged_owners` for what an object says of
itself; `every_run` and `agreeing_targets` say which functions are as good as `free` or `malloc`), and by how other calls of a
function treat its result (`sibling_calls`); that is counted in the whole program, so a finding is reported anew when it
differs. `session.scores` makes a score of it.
"""
