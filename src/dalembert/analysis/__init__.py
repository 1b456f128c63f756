"""What follows from equations or runs: integrals, statics, linear models, ensembles."""
