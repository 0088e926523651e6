"""Builds the unit of each file, and rebuilds it after an edit.

`unclosed` closes what is still open while it is typed, `unfinished` keeps an incomplete definition
from swallowing the next function, and `kept_functions` keeps the last good CFA of a function that
does not parse. `lookups` says where headers may be looked for, and `new_headers` notices those
that come to be there.
"""
