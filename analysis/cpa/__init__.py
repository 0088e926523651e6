"""Configurable program analysis (CPA): the framework, and the abstract domains that are composed in it (DESIGN.md section 8)."""
