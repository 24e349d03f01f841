"""What proves matches to who does not trust the server: replays, signed bundles, keys, a Merkle log of all heads."""
