"""What people are told, and through which channel: the ledger of notices, its settings, and what waits to be sent."""
