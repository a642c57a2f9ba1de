"""Files people delivered: what they are, what they say, how they look, and who must not be read from them."""
