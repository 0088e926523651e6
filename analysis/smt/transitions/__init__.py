"""C as a transition system over named state variables: what Hoare triples, predicates and certificates speak about."""
