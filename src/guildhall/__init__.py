"""Guildhall: judge AI work the way experts judge it."""

__version__ = "0.1.0"
