"""Pictures of positions: the one renderer of boards, the figures of pieces, and the style sheet with their colours.

``board`` draws a scene with ``figures`` and ``symbols``, ``turning`` turns it, ``steps`` has the differences between
plies, ``standalone`` makes pictures that need no page, ``animation`` a GIF of moves.
"""
