"""Verifies C programs: reads their text and returns verdicts, findings and traces."""
