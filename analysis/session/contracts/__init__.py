"""Says what callers of functions must keep, and can rely on.

    program_contracts ──> required_clauses (certificate.nonzero), owned_clauses (certificate.ownership), null_results
    library_contracts ──> the tables of `analysis.c`
                          both make a `FunctionContract`, a list of clauses, with `words` and `declarations`
    sentences, changes    a contract, and what is other than before, as people read it
    open_contracts        those of a program that is edited; `unaffected` says what no edit concerns

Each clause has a status: `proved` by the checkers of certificates, `assumed`, `given` by a table, or `seen` in a
statement. Nothing else is said: a contract without a clause about a result says nothing of it.
"""
