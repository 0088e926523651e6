"""Frozen data that every layer speaks; imports nothing of ours."""
