"""The figures of the rules pages, one module per game."""
