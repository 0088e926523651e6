"""From the units of a program to one `Program` (C11 6.9), with what only all files together tell."""
