"""Computes what changed from one revision of a program or of its rules to the next.

`program_change` models the edited function again, and those functions that see it differently now.
`alike` finds at which of their edges the answers can differ, and for which facts. Only these are
compared with the graph. `rule_change` treats a rule that changes like an edit: the edges that its
patterns match or matched count as modified. `reasons` records why a function was checked again.
"""
