"""The effects of events: read models, the opponents' answers, ratings. All of it can be repeated at any time."""
