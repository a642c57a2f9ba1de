"""Chapters of a report: each finds its figures in the evidence, or nothing."""
