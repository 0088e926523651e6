"""Encodes the memory of C as terms: objects, their contents, their addresses, and the targets of pointers."""
