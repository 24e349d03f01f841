"""What needs all others: backups, personal data, archiving, and the figures that operators see."""
