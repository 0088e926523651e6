"""The one way to ask provers: a request goes in, an answer for each of its rules comes out.

request ──> asking (who is asked in turn, for which share of the time: `turns`) ──> a prover of the `registry` ──> answer
                                                                 runs | value | constraints | predicate

A request is about the whole program, a function, or a place in one. A prover says `Confirmed` (a run that was executed),
`Proved` (a certificate that was accepted), `Refuted` (no run gets there, without a certificate: a finding goes away by it, but
nothing is safe), or `Unknown` with the reason. The modules of the provers load the engines, and z3 with them, so only prover
processes import them.
"""
