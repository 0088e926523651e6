"""Asks provers, keeps their answers, and asks again after edits."""
