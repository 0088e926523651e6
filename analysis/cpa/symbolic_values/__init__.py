"""Executes programs on symbolic values and constraints over them ([SYMCEGAR] sections 3.2.5 to 3.2.7).

A symbolic value is an IR expression over identifiers. An identifier is named after the place where
it is made and how often that happened on this path, so that the same path has the same names in
every process. `condition_formulas` encodes conditions. `symbolic_execution` is the composition,
with the operators of sections 4 and 5 as options. `aliased` asks for one bijection of identifiers
for values and constraints together; two separate ones, as in the paper, are unsound.
"""
