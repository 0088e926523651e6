"""Configurable program analysis (CPA): the framework, and the abstract domains that are composed in it ([SYMCEGAR] section 3)."""
