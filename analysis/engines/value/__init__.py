"""Value analysis with CEGAR: cheap proofs by explicit values, certified as others are."""
