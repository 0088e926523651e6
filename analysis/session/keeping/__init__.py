"""What a session keeps in a store for later processes, and when that is still true (invariant I6)."""
