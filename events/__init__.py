"""The events, and all that is derived from them: the event store, matches, people, proof, notices.

Instants are integers, milliseconds since 1970 UTC. Objects that are made once for an installation are safe to share
between threads. All that asks the store raises StoreUnavailableError while it cannot be asked.
"""
