"""Compares two versions of a program.

This is `everproof diff`: it says what a change has brought about.

Two versions are checked by one checker, the new one as an edit of the old one where that is possible (`version_chain`). Each
finding is then introduced, fixed or there before and after (`same_findings`), and each function does what it did, or may not
(`engines.difference`, which also says which paths have to be looked at again).

A version is a file, a folder, or a revision of a git repository (`git_versions`). A repository is not trusted: the command `git`
is only asked for the names and contents of what is stored, with nothing that its configuration could have it run.

- `diff_command`: the command.
- `git_versions`: a revision as a folder.
- `same_findings`: which findings of two versions are the same.
- `renamed_variables`: where local variables have other names.
- `same_ways`: where a finding is reported elsewhere.
- `difference_formats`: what is printed.
- `condition_format`: a condition as JSON.
- `condition_reading`: `everproof check --condition`.
"""
