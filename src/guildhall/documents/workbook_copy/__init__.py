"""Workbooks to take away: a copy written by one program from what a reader sees, so that no byte tells another one."""
