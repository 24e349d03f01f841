"""How events make the state of a match, by subject; ``domain.match.decisions`` has the same subjects.

Each function is named after the event that it applies. None of them refuses anything.
"""
