"""What graders of every kind share: work made ready and blinded, requests, verdicts, picks, coded reasons."""
