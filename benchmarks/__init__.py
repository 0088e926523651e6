"""Scripts that measure Everproof on real C programs and print their tables as Markdown. Imported by nobody else."""
