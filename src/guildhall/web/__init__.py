"""The web app: pages for graders, managers, authors and reviewers, public results, and the JSON API."""
