"""What a running Guildhall tells those who keep it running: log lines, metrics, traces. Any package may use it."""
