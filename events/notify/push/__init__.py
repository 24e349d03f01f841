"""Web push: the encryption of messages (RFC 8291) and the identification of the sender (RFC 8292)."""
