"""Being a witness for the logs of others (C2SP tlog-witness): only its own command imports this."""
