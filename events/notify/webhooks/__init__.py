"""Webhooks by the Standard Webhooks specification: payloads, signatures and the reading of answers."""
