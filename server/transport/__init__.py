"""Turns bytes into messages and back; starts the first checker process."""
