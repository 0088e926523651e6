"""Predicate analysis: program steps as formulas, abstraction by predicates, blocks of adjustable size."""
