"""One correspondence match: commands are decided into events, events evolve the state."""
