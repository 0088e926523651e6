"""From preprocessed text to a syntax tree."""
