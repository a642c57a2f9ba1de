"""Authoring and staged review: how a professional's piece of work becomes a task that may enter a study."""
