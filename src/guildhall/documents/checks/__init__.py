"""How files look: the faults a careful reader would see, each with its place and a plain sentence."""
