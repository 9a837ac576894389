"""Webhooks on the wire: the Standard Webhooks signature, the guard against inner addresses, and one attempt to send."""
