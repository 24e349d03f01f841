"""What needs a whole installation: everything that is stored about a person."""
