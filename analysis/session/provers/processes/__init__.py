"""Runs tasks in prover processes: starts, watches and ends them, without knowing what a task is.

Every task ends with exactly one outcome. `supervisor` is the thread that owns the processes, `desk`
knows which task is where, and `seat` is the protocol: the state machine of one prover, in which
every state that is waited for has a deadline. `desk` and `seat` do no input or output, and are
tested with lost messages. A prover sends signs of life; after `Patience.silence` seconds without
one it is killed. A task whose prover is lost is tried once more, then it is `crashed`. Time, memory
and cancellation end a task in three steps: asked, terminated, killed. `launcher` forks provers in a
process that has loaded the engines already. No prover outlives its owner.
"""
