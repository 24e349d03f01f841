"""Accounts, sessions, tokens, roles and their log; and private writing of players, which can be erased."""
