"""Asks the provers: takes a request and returns an answer for each of its rules.

    request ──> asking (whom in turn, for which share of the time: `turns`) ──> `registry` ──> answer
                                        runs | tree | ownership | value | constraints | predicate | summary

A request is about the whole program, a function, or the edge of a finding. An answer is
`Confirmed` (a run was executed), `Proved` (a certificate was accepted), `Refuted` (no run gets
there, but there is no certificate: the finding goes away, and nothing is safe by that), `Bounded`
(about runs within a bound only), or `Unknown` with the reason. `check`, `revisions`, `watch`, the
editor and the benchmarks differ only in their budget (`model.budgets`). The modules of the provers
load the engines and z3, so only prover processes import them.
"""
