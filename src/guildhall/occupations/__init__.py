"""Which work matters (GDPval A.7): sectors by GDP share, occupations by pay, and how much of each is digital."""
