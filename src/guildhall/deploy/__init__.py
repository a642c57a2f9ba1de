"""Files for running Guildhall for real: containers or services, a proxy, backups, monitoring."""
