"""Sign-in by the word of an OpenID Connect issuer: what is asked of it, and what is believed."""
