"""The verification engine of Everproof: C text in, verdicts, findings and traces out."""
