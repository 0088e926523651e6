"""C as formulas: values, memory, and paths through CFAs."""
