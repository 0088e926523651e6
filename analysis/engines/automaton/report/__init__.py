"""From a derivation graph to what people read: findings with traces, verdicts of functions, drawings of the graph."""
