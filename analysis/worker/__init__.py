"""Runs the checker process: `python -m analysis.worker` (messages in `analysis.wire`).

A thread reads requests (`inbox`), so that a newer edit is seen during a check. The check is then
abandoned between two files, or inside the engine by a signal; what it has built stays. Every
request that has arrived is applied before the next check starts, and of several requested checks
only the last one is done (`service`).

Questions about the last check (`check_questions`) are answered when none is pending; those about contracts (`told_contracts`)
from what is found in a fraction of a second. The rest, and what edits did to contracts, is found while the process is
idle.

Findings are reported as possible first (`reported_files`). Provers decide them in processes of their own. They
are asked while no request waits. Their answers update the results of a file, unless a text has
changed since the check.

After a keystroke, provers are asked at once whether the proofs that it has put in question still hold. Apart from
that, the process does nothing for `service.PAUSE` seconds, so that the next key finds it free; after a file was
opened, for `service.SHOWING` seconds. Then it does what nobody waits for: it stores results, loads what the next edit
needs, asks the compiler for macros, follows functions for their contracts, and looks whether the programs
(`programs`) have other files. A request interrupts the storing. Then a process of its own is started that checks the
programs as they were at the reference (`reference`).

Standard output carries frames only; all other output goes to standard error.
"""
