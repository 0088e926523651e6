"""From bytes to messages and back: standard input and output or a socket, frames, the protocol's classes, the checker's first
process."""
