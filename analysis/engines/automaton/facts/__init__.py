"""Defines facts and the transition relation: what an edge or a call does to a fact ([ORION] section 2).

`transfer` steps over edges. `call_mapping` maps facts into callees and back. `relevance` drops
values that cannot flow to where a rule reports. `product` combines them for a whole program.
"""
