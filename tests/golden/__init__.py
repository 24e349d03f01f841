"""Golden matches: finished matches of every ruleset as they were stored, to be replayed for ever.

``python -m tests.golden bashni 3`` makes those of a new ruleset, once; a file that is there is never made again.
"""
