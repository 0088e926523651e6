"""What control-flow automata and stores do not show of a program, so that a proof must not overlook it: addresses of code,
what runs
beside a function, variables that are gone, and places where a rule can be violated at all."""
