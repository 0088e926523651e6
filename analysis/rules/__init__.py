"""Loads rules from YAML files, as automata over C patterns, and contracts of functions."""
