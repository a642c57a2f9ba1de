"""Programs that scripted authors write and run inside their sandbox; never imported here, only sent there as text."""
