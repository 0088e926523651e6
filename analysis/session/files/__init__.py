"""Files as a user names and edits them: which make the program, what each holds now, and comments that silence findings."""
