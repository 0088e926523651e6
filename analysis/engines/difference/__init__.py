"""Says which functions a change concerns.

- `unchanged_functions`: which functions do what they did, since nothing that they are made of has changed.
"""
