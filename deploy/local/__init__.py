"""An installation on one machine: embedded server, supervised processes, demonstration."""
