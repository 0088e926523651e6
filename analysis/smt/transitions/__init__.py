"""Encodes C as a transition system over named state variables, for predicates and certificates.

Signed arithmetic wraps as unsigned arithmetic does, in both encodings; nothing is assumed about
overflow. A scalar, or a part of a record, whose address is never taken is a variable of its own. An
array that is only indexed is an array. All else is memory: one array for each class of scalars, by
address (C11 6.5p7). Characters see and change all classes; unions and unknown writes forget
everything. An uninitialised, external or unmodelled value is any value. Allocated blocks are
distinguished, but `free` has no effect on them. `System.assumptions` lists what is assumed.
"""
