"""How players, matches, boards and cases look to callers: the types of answers, and what makes them."""
