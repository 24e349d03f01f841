"""The work on notices: the decision about each fact, and its delivery."""
