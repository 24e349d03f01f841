"""A second, slow reference of the rules of Fourplay: every piece has an identity, every square is tried as a target."""
