"""Making files visible: pages as pictures, with proof of how it went."""
