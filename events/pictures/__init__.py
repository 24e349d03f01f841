"""Pictures of positions: the one renderer of boards, the figures of pieces, and the style sheet with their colours."""
