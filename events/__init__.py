"""What has happened, and what is derived from it: the event store, matches, people, proof, notices.

Instants are integers, milliseconds since 1970 UTC. Objects that are made once for an installation are safe to share
between threads. Whatever asks the store raises StoreUnavailableError while it cannot.
"""
