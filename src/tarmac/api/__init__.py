"""The HTTP API: routes by noun. Everything a person can do goes through here."""
