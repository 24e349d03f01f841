"""Fleet jobs: work over all matches of a store, in parallel processes, that changes nothing in it."""
