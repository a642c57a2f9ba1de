"""Estimators: values and arrays in, estimates out. Importing this package loads NumPy and nothing heavier."""
