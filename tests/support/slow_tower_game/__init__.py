"""A second, slow reference of the rules of The Tower Game: text in, dictionaries, every cube tried for every man."""
