"""Holds the verification engines, one package each; they do not import each other."""
