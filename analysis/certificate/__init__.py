"""Proofs that somebody else can check: annotations of a program, their text, and the checker that trusts no engine."""
