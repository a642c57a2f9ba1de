"""From tasks to submissions: what authors are told, how they work, what of it counts, and what is kept."""
