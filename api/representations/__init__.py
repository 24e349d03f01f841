"""How players, matches, boards and cases look to callers: the types of answers, and the functions that make them."""
