"""The work on notices: what is decided about each fact, and how it is delivered."""
