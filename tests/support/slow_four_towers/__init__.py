"""A second, slow reference of the rules of Four Towers: coordinates, no tables, every move tried out on a board."""
