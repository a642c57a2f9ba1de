"""The command line: a file per command group; parse, call, show."""
