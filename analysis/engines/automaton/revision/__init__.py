"""From one revision of a program, or of its rules, to the next: what differs, as the repair takes it."""
