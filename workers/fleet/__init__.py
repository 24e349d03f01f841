"""Fleet jobs: work over all matches of a store, done in slices by the workers of the fleet."""
