"""What is computed of each function before any fact enters it: access paths, conditions, effects, matches of the rules'
patterns."""
