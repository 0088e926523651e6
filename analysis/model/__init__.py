"""Defines the frozen data that all layers share; imports nothing of ours."""
