"""What players keep for themselves: no events, and it can be erased."""
