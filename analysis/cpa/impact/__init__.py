"""Change impact analysis: what can be other than before in a new revision of a program ([IPA] section 4.3).

cfa.revisions.location_map ──> joint_graph (both revisions as one graph; deleted edges count)
    ──> control_regions (what a branch decides) ──> impacted_variables (the fixed point)
"""
