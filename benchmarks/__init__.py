"""Simulations that answer what no single machine can be asked."""
