"""Encodes C as formulas: numbers, memory, and paths through CFAs.

`paths.path.PathEncoder` follows a sequence of edges through calls. The values of all objects are
terms over the path's inputs. The formula is the conjunction of the branch conditions; values that no
branch depends on do not appear.

    paths.path ── paths.path_state ── storage.lvalues ── storage.path_memory
      │                                   └── storage.content (cells at known offsets, over layers of
      │                                       writes at unknown ones), fills, addresses, regions
      ├── numbers.expression_terms ── integers (`int`) | bits (`bv`) ── floats
      └── paths.unfollowed_calls, failures (undefined behaviour), assigned (models in C's terms)

- Addresses of objects are numbers, far apart. A pointer to a known object is a constant plus an
  offset, so null tests and comparisons fold. Pointers from outside are symbols.
- At known offsets, unions, casts and copies are exact in both encodings.
- What is not exact is left open, so `unsat` always holds. `Formula.approximations` lists it; with
  any of them, `sat` needs a replay. `Formula.assumptions` lists what is assumed
  (`model.assumptions`).
- The name of a symbol says the range of its values. Intervals of terms rely on it; they spare the
  `int` encoding most wraps.
"""
