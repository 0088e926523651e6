"""Says what callers of functions must keep, and can rely on.

    program_contracts ──> required_clauses (certificate.nonzero), owned_clauses (certificate.ownership)
    library_contracts ──> the tables of `analysis.c`
                          both make a `FunctionContract`, a list of clauses

Each clause has a status: `proved` by the checkers of certificates, `assumed`, or `given` by a table. Nothing
else is said: a contract without a clause about a result says nothing of it.
"""
