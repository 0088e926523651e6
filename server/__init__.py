"""Implements the language server; another process does all checking.

    client -- `transport` (`stdio` | `tcp`, `protocol`) -- `features/*` -- `scheduler` -- `worker_client` -- checker process
                                                                    |               |
                                                                 `convert` <---- `results`

- `documents`, `client_lines`, `client_tokens`, `client_columns`: the exact texts of the client, and
  the edits between their versions, token by token.
- `scheduler`: decides when to check. There is one check at a time; the latest text wins.
  `running_check`: that check, and who is told of it.
- `worker_client`: the checker process. The first one is started before anything else
  (`transport.early`); asyncio takes it over later (`transport.adopted`). One that gives no sign of
  life for 30 s is killed and replaced.
- `results`: the checker's answers. They move with edits and are stale until the checker repeats
  them. An answer that did not change stays the same object, so it is not converted again.
- `contract_markdown`, `contract_news`: contracts for hovers, and what edits did to them.
- `typing_pauses`: who types, and is not told yet what does not parse.
- `convert`, `status`: from the model to the protocol. `work_progress`, `rechecks`: progress
  reports, and which check looked at a function last.
- `app`: the object that holds these together. `features`: one module for each feature.
- `loop_watch`: reports when the event loop was held up (`--watch-loop`).

Everything runs on one event loop, which never waits and never computes (invariant I13). It takes one
event of the checker per turn, and publishes moved diagnostics file by file. Every request is
answered, however malformed: `transport.frames` reads frames, `transport.envelopes` classifies
messages, `transport.protocol` rejects what it cannot take. A folder is checked at the start only if
the client asks for it (`check_folders`); else the first `didOpen` starts the check.

What must stay true: a verdict shown as current is about the text that is shown; nothing that was
cancelled is shown; known results are replaced, never cleared.
"""
