"""Encodes the memory of C as terms: objects, contents, addresses, pointers."""
