"""A second, slow reading of the rules of The Tower Game: text in, dictionaries, every cube tried for every man."""
