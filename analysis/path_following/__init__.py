"""Single paths of a program, followed to the bit: what is asked along them, and where they can go."""
