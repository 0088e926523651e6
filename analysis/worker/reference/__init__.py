"""Tells findings that are new since a reference from older ones.

The reference is a revision of a git repository, the saved texts, or the start of the session. The program as it was at the
reference is checked at its own paths, with the texts of then in place of those that differ now (`reference_texts`). So what is in
the store serves both: where nothing differs, the report is read and nothing is computed. That is done by a process of its own
with a low priority (`reference_process`), which ends when it has answered (`task`). The checker process starts it while nothing
else is to be done (`following`), and compares each of its reports with the answer (`since`).

Which of several edits has introduced a finding is found by such a process as well, by bisection (`edit_bisection`).
"""
