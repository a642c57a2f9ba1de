"""The task bank: tasks in from the public data set or one's own folders, checked, counted, and out again."""
