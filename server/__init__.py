"""The language server. It knows the protocol, the model and the wire; all checking is done by another process.

client -- `transport` (`stdio` | `tcp`, `protocol`) -- `features/*` -- `scheduler` -- `worker_client` -- checker process
                                                                |               |
                                                             `convert` <---- `results`

- `documents`, `client_lines`, `client_columns`: the texts as the client has them, exactly, and the edits between their versions.
- `scheduler`: when to check; one check at a time; the latest text wins. `worker_client`: the process, which may die; the first
one
  is started before all else (`transport.early`), then asyncio takes it over (`transport.adopted`).
- `results`: what the checker has said, moved along with edits and marked stale until it is said anew.
- `convert`, `status`: from the model to the protocol. `work_progress`, `rechecks`: what their names say.
- `app`: the object that holds these together. `features`: one module for each feature of the protocol.

Everything runs on one event loop, which never waits and never computes. What must stay true: a verdict shown as current is of
the text that is shown; nothing that was cancelled is shown; what was known is replaced, never cleared.
"""
