"""The seek aggregate: commands -> decide -> events -> evolve -> state; a person's wish to be matched."""
