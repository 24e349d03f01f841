"""Notices: the ledger and its settings, what waits to be sent, and the channels mail, push and webhooks."""
