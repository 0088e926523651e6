"""Predicate analysis with CEGAR: proofs that a property holds, each with an annotation that the certificate checker accepts."""
