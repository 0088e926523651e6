"""Proves rules about blocks and streams by closed sets of memory states.

Each proof is about one function, which is called in any state.

A *memory state* says what each pointer variable of the function holds, and which blocks the function
owns: it allocated them, and no pointer to them is anywhere but in these variables. A *closed set* has
such states for each location: the state at the entry, and with each state all its successors. So it
covers all runs of the function.

    closed_checker ──> function_transfer ──> expression_values ──> block_changes ──> memory_state
       │                                 ├─> open_operands
       │                                 └─> library_calls, called_functions (by `contracts`) ──┘
       └─> kept_by_callers ──> whole_conditions ──> certificate.pointed

The checker computes successors itself. It knows the effects and expressions of an allow list. Where a
pointer goes anywhere else, the function does not own the block any more, and the proof is refused with
a sentence that says where the pointer went, if the rule needs to know. `closed_search` finds closed
sets; nothing it says is believed.

The proof is about the places in the function itself. What it calls is seen through *contracts*, which
follow from the closed sets of the called functions: which arguments they free or keep, and what they
return. Where only what it is passed is not known, its callers may keep what is missing (`kept_by_callers`),
so that it is safe in runs from `main`. So it is where a pointer comes out of memory, and the whole program
never ends what it leads to, where what is overwritten leads to nothing that could be lost, or where nothing is lost by
what is called through a pointer (`whole_conditions`). Where all uses come before anything may end,
it is enough that nothing had ended when the function was called (`used_before`).
Functions that call each other assume the contracts of each
other that follow from their sets.
"""
