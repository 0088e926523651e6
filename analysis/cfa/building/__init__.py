"""Builds the CFAs of one file, and rebuilds as few as possible after an edit (invariant I5).

`body_edit` handles an edit inside one body: it parses and lowers that function alone. If the
function does not parse, it is stale and nothing else changes. `shift` moves places after an edit
that changes no token.
"""
