"""Turns bytes into messages and back: streams or a socket, frames, the protocol's classes, and the first checker process."""
