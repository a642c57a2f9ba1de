"""Planted stores that hold everything at once, a naive twin that counts them, and the roads held against it."""
