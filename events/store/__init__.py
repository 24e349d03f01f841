"""The event store: envelopes, codec, contract, Redis and memory, hash chain, snapshots, feed and archive."""
