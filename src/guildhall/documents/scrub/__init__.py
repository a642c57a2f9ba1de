"""Copies of files without their makers' traces: same content, same pages, nobody's name."""
