"""Linear models by exact differentiation: A, B, C, D, modes, root loci, sensitivities.

`equation_jacobians` compiles the slopes of the equations, `linearize` evaluates them at a point or
along a run, `linear_model` is the result, `second_order` its form M q̈ + C q̇ + K q, `root_locus`
follows eigenvalues over a parameter, `sensitivity` gives their slopes and those of a motion.
"""
