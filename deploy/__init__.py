"""How Rookery runs: embedded server, supervised processes, command line, demonstration, checks of the rules."""
