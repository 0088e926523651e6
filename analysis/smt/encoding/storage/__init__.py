"""Memory of C as terms: objects, what they hold, where they are, and what pointers may lead to."""
