"""The tournament aggregate: commands -> decide -> events -> evolve -> state; matches under common terms."""
