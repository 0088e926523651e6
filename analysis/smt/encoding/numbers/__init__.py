"""Encodes numbers of C as terms: integers in both encodings, floating values, expressions over them."""
