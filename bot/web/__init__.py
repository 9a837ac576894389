"""The inbox: pages that people open in a browser. What they look like is in adapters/web; what they do is here."""
