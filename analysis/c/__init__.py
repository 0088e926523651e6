"""Says what C means, each fact in one place.

- `functions`: what library functions do, from tables with a row for each (`library_c`, `library_posix`, `library_others`). To add
  a function is to add a row. A function without a row is an unknown external function.
- `calls`: what that means for one call, by its arguments.
- `blocks`: functions that give blocks of memory, or end them.
- `control`: functions after which control does not only go on behind the call.

Nothing here knows of CFAs or engines: only `analysis.model` is imported.
"""
