"""Runs an analysis from its operators, without knowing any domain ([SYMCEGAR] section 3.1).

`interface` and `defaults` are the operators, `algorithm` is Algorithm 2, `composite` the
composition. `refinement_loop` is Algorithm 3 for any domain, back to the pivot or to the start.
`path_interpolation` is Algorithms 4 to 7, over strongest postconditions.
"""
