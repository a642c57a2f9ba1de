"""Grading: which submissions are compared, by whom, in which order; people's queue and automatic judges."""
