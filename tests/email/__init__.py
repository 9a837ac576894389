"""Mail: against a real SMTP server on the loopback, and against hostile text and hostile reports."""
