"""The language server: the one place that knows LSP."""
