"""How events make the state of a match, by subject: a function of the same name for each event, refusing nothing."""
