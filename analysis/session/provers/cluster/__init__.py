"""Runs provers on other machines, through Dask.

    cluster_pool (here) ──order──> scheduler ──> cluster_worker (there) ──> processes: a pool of one prover
                        <──reply──           <──

Only data travels: an order is the bytes of a question (`question_packing`), a reply those of an answer. Dask is
told the name of a function that both ends have installed, never its code. A worker whose version is another
one (`tool_version`) refuses. On the worker, a prover process does the task, within the same limits as here, so
that a task can neither end the worker nor go on when nobody wants it. A task has the digest of its bytes as
its key, so a scheduler that is asked the same by two clients has it done once. A task whose worker is lost
is done by another one.

What the scheduler and the workers say is believed as much as what a prover on this machine says:
docs/security.md. `distributed` is an optional dependency, so only `connection` and `cluster_worker` import it,
and nothing imports these but by name.
"""
