"""The mail gateway: receives answers to mail by SMTP or LMTP."""
