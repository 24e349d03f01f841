"""Backups: everything that an installation cannot derive, in one file, and its way back into an empty store."""
