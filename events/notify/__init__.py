"""Notices: the ledger and its settings, the outbox, and the channels mail, push and webhooks."""
