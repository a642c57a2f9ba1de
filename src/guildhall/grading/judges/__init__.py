"""Automatic graders: judges that are models, panels of them, rubric judges, and baselines that need no model."""
