"""Defines facts and the transition relation: what an edge or a call does to a fact ([ORION] section 2).

`transfer` steps over edges, `external_calls` over calls of external functions. Both use `moved_paths` (the access paths after a
statement), `ownership` (who may own a value), `environments` (what a fact says of other values) and `outcomes` (a fact at its new
paths, or an error). `call_mapping` maps facts into callees and back, by `passed_paths`. `relevance` drops values that cannot flow
to where a rule reports, by `value_flows`. `product` combines them for a whole program.
"""
