"""Configurable program analysis (CPA): the framework, and the abstract domains that are composed in it ([SYMCEGAR] section 3).

`framework` is without any domain. `domains` has one file each; `stores`, `symbolic_values` and `predicates` are what they are
made of. `obstacles` is what a proof must not overlook.
"""
