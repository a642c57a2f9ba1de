"""Reports: findings in, pages and tables out. Nothing is computed here and nothing is opened."""
