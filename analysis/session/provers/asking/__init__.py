"""Questions to provers, their answers, and what is asked again when a program changes."""
