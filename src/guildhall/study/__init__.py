"""One `study.toml`: the whole job, frozen by digest, planned before anything is spent, run and resumed."""
