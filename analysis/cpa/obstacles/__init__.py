"""Finds what CFAs and stores do not show, and a proof must not overlook.

Examples are threads, signal handlers, jumps, callbacks, addresses of code, and variables whose
lifetime has ended. `violable` finds the places where a rule can be violated at all. `completeness`
words the reasons that several engines give.
"""
