"""The Boswell Test: models write essays, models mark them, and the marks are read correctly."""
