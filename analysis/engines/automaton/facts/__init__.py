"""Facts and the transition relation: what an edge or a call does to a fact (ORION's Delta, section 2)."""
