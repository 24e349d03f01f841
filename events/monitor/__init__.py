"""Monitoring the log of an installation from outside: only its own command imports this."""
