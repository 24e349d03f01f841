"""Every rule about who may do what, by subject; ``domain.match.evolutions`` has the same subjects.

Each function takes the match, a command about it and the instant (milliseconds since 1970 UTC), and returns the events
that follow, or a ``Decision`` where it knows the match after them already. Each raises CommandError.
"""
