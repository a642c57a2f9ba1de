"""Frozen values and pure rules: no files, no network, no clock."""
