"""Finds what a change impacts ([IPA] section 4.3).

cfa.revisions.location_map ──> joint_graph (both revisions as one graph; deleted edges count)
    ──> control_regions (what a branch decides) ──> impacted_variables (the fixed point)
"""
