"""The tests; a package, so that no other package called tests hides their shared parts."""
