"""Says what C means, each fact in one place.

- `operators`: a row for each operator and class of types. To add an operator is to add a row.
- `results`: what the operators compute, on two numbers and on numbers between bounds.
- `conversions`: what a value becomes in another scalar type.
- `layout`: sizes, alignments, and where members and bit-fields are.
- `linkage`: which of several definitions prevails, what runs before `main`.
- `attributes`, `layout_attributes`, `pragmas`: lists of those that are understood, and what they may change.
- `undefined`: what an edge can violate, and when.
- `failing`: which expressions can be undefined, by their form.
- `functions`: what library functions do, from tables with a row for each (`library_c`, `library_posix`, `library_others`, in
  the words of `row_words`). To add a function is to add a row. A function without a row is an unknown external function.
- `library_variables`: the variables of the library.
- `declared`: which declarations of a function are those of the library function of that name.
- `calls`: what that means for one call, by its arguments.
- `blocks`: functions that give blocks of memory, or end them.
- `locks`: functions that take and release locks.
- `opening`: what files are opened for.
- `control`: functions after which control does not only go on behind the call.

Nothing here knows of CFAs or engines: only `analysis.model` is imported.
"""
