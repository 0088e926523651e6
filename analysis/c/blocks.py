"""Functions that give blocks of memory, or end them (C11 7.22.3), by what the tables say of them."""

from __future__ import annotations

from analysis.c.functions import all_with

STACK_ALLOCATIONS = all_with(lambda function: function.result == "stack")
"""Each returns a block that ends with the function that calls."""
RESIZES = all_with(lambda function: function.gives_block and function.frees)
"""Each ends a block, if it finds memory for the one that it returns instead."""
ALLOCATORS = all_with(lambda function: function.gives_block and bool(function.sizes)) - RESIZES
"""Each returns a block of the size that it is passed, or null."""
ALLOCATIONS = ALLOCATORS | RESIZES | STACK_ALLOCATIONS
"""All that return a block of a size that they are passed."""
ZEROING = all_with(lambda function: "zeroed" in function.besides)
"""The allocators whose memory is zero."""
OWN_BLOCKS = all_with(lambda function: function.gives_block) - ALLOCATIONS
"""Each returns a block of its own, of which nothing more is known, or null."""
RELEASES = all_with(lambda function: bool(function.positions("freed")) and "frees" not in function.besides) - RESIZES
"""Each ends the block that its argument leads to, and no other."""
ENDING = RELEASES | RESIZES
"""All that end the block that their first argument leads to."""
HEAP = ALLOCATIONS | OWN_BLOCKS | RELEASES | all_with(lambda function: "allocates" in function.besides)
"""All functions that give blocks of memory, or end them."""
CLOSES = all_with(lambda function: function.closes_block)
"""These free a block that the library made, which programs reach through the library only."""
STREAMS = all_with(lambda function: function.result == "stream")
"""The library keeps the blocks that these return on a list."""
