"""Chapters with a shape of their own, as Markdown and CSV; their pages are templates of the same names."""
