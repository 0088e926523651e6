"""Tells findings that are new since a reference from older ones.

The reference is a revision of a git repository, the saved texts, or the start of the session. The program as it was at the
reference is checked at its own paths, with the texts of then in place of those that differ now (`reference_texts`). So what is
known of one serves both. That is done by processes of their own with a low priority, which end when they have answered (`task`):
first one that says whether anything differs (`reading_process`). Where nothing does, what is known of the present texts is known
of the reference, and nothing has to be checked. Else another one (`reference_process`) checks it, starting from the store, if it
is not kept from an earlier time (`reference_check`). The checker process starts them while it has nothing else to do
(`following`), and compares each of its reports with the answer (`since`).

Which of several edits has introduced a finding is found by such a process as well, by bisection (`edit_bisection`).
"""
