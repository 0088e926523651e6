"""Stores of the value domains: objects, the values of their cells, and what a step does to them."""
