"""The web pages: read-only until the inbox, made from the same prompt as every other surface."""
