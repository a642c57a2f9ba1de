"""Bad days on purpose: faults of every kind while records are being acknowledged, and a deep look after each."""
