"""From C text to types and lowered expressions."""
