"""A store and bundles that an earlier commit has written, for tests of what later ones make of them."""
