"""What happened: envelopes, the event store and its feed, matches loaded from it, read models."""
