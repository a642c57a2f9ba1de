"""The store: values in SQLite or PostgreSQL, files by digest, and bundles that carry both."""
