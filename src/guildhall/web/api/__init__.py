"""The JSON API at `/api/v1`: for programs with a token, never for cookies."""
