"""Formulates questions to provers, keeps their answers, and decides what to ask again after an edit."""
