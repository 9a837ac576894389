"""Signing in with somebody else's word for who a person is: OpenID Connect, code flow with PKCE."""
