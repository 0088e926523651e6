"""Checks what was reused again from nothing, and compares.

This happens while nobody types. What is shown was reused over edits and from the store: transition relations, derivation graphs,
summaries, proofs, answers of provers. By the invariants of the project, it is what a check from nothing would say. The audit
looks whether that holds on the program at hand (`self_audit`). A process of its own with a low priority does the check
(`audit_process`); the next edit ends it. One program is taken at random of those for which something was reused since their last
audit.

Where both cannot be right (`analysis.model.report_differences.contradictions`), the texts are looked at again, since files may
have changed on the disk, and the audit is repeated. If it finds the same, all that is kept is dropped, the program is checked
from nothing, and a report is written that can be attached to an issue (`audit_report`). The edits since the last check from
nothing (`journal`) are replayed to see whether they alone show the difference, and those that it does not need are left out
(`edit_replay`).
"""
