"""Verification engines. They do not import each other."""
