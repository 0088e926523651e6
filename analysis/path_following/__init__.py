"""Follows single paths of a program exactly, to the bit and with their memory.

`following` forks a path where it has several successors. `checks` asks, before each edge, whether
it can violate a rule there. `explanation` says which steps of a path explain its end, by the form of the functions alone
(`other_side`).
"""
