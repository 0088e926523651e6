"""Proves properties cheaply, by explicit values of few variables with CEGAR."""
