"""Implements what a client can ask for: one module for each feature, each with a `register(server)`."""
