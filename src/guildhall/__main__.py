"""`python -m guildhall` is the command line."""

from guildhall.cli.main import main

main()
